# Completion of lengthwise for fish.
function __lengthwise_complete
    set -l words (commandline -opc)
    for row in ($words[1] completion fish --line=(commandline -cp | string collect) 2>/dev/null)
        if test "$row" = /
            __fish_complete_path (commandline -ct)
        else
            printf '%s\n' $row
        end
    end
end
complete -c lengthwise -f -a '(__lengthwise_complete)'
