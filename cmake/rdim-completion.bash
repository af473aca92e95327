# Completion of rdim for bash.
_rdim()
{
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}

    COMPREPLY=()
    case $before in
        --align) mapfile -t COMPREPLY < <(compgen -W "exact inner left position" -- "$word"); return ;;
        --units) mapfile -t COMPREPLY < <(compgen -W "convert ignore" -- "$word"); return ;;
        --backend) mapfile -t COMPREPLY < <(compgen -W "auto cpu cuda opencl" -- "$word"); return ;;
        --threads | --only | --join | --memory | --separator) return ;;
    esac
    case $word in
        -*) mapfile -t COMPREPLY < <(compgen -W "--output --only --plot --join --align --units --list --explain --dot --time --progress \
--threads --backend --memory --separator --decimal-comma --help --version" -- "$word") ;;
        *=*) compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- "${word#*=}") ;;
        *) compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- "${word#=}") ;;
    esac
}
complete -F _rdim rdim
