# Completion of lengthwise for bash.
_lengthwise() {
    local word
    COMPREPLY=()
    while IFS=$'\t' read -r word _; do
        if [[ $word == / ]]; then
            compopt -o default # files and folders, if no word fits
        else
            COMPREPLY+=("$(printf '%q' "$word")")
        fi
    done < <("$1" completion bash --line="${COMP_LINE:0:COMP_POINT}" 2>/dev/null)
}
complete -F _lengthwise lengthwise
