//! `cargo evaltest completions`: shell completion scripts.

use clap::{Args, Command};
use clap_complete::{Shell, generate};
use evaltest::{Exit, Result};

use crate::console;

/// Generate shell completions
///
/// bash, zsh and fish complete `evaltest`, `cargo-evaltest` and `cargo evaltest`; powershell and elvish complete the
/// first two.
///
/// To install, write it to where the shell looks: for bash
/// `~/.local/share/bash-completion/completions/evaltest`, and source it in `~/.bashrc` to have it for `cargo evaltest` too;
/// for zsh `_evaltest` in a folder of `$fpath`, before `compinit`; for fish `~/.config/fish/completions/evaltest.fish`, and
/// source it in `config.fish` for `cargo evaltest`; for powershell and elvish, append it to `$PROFILE` and `rc.elv`
#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

/// The name the scripts are generated for; the other names are added.
const NAME: &str = "evaltest";

pub(crate) fn run(args: &CompletionsArgs, command: Command) -> Result<Exit> {
    let script = script(args.shell, command);
    console::print(|out| out.write_all(script.as_bytes()))?;
    Ok(Exit::Passed)
}

fn script(shell: Shell, command: Command) -> String {
    // The name with a space is only for display.
    let mut command = command.name(NAME).bin_name(NAME);
    let mut script = Vec::new();
    generate(shell, &mut command, NAME, &mut script);
    let script = String::from_utf8_lossy(&script).into_owned();
    match shell {
        Shell::Bash => script + BASH,
        Shell::Zsh => {
            script.replacen("#compdef evaltest", "#compdef evaltest cargo-evaltest", 1) + ZSH
        }
        Shell::Fish => script + FISH,
        Shell::PowerShell => script.replacen(
            "-CommandName 'evaltest'",
            "-CommandName 'evaltest', 'cargo-evaltest'",
            1,
        ),
        Shell::Elvish => script + ELVISH,
        _ => script,
    }
}

/// Delegates to the previous completion of `cargo`, except for `cargo evaltest`.
const BASH: &str = r#"
complete -F _evaltest -o bashdefault -o default cargo-evaltest

{ complete -p cargo || _comp_load cargo || _completion_loader cargo; } > /dev/null 2>&1
__evaltest_before=$(complete -p cargo 2> /dev/null | sed -n 's/.* -F \([^ ]*\) .*/\1/p')
[[ $__evaltest_before == __evaltest_cargo ]] && __evaltest_before=

__evaltest_cargo() {
    if [[ $COMP_CWORD -gt 1 && ${COMP_WORDS[1]} == evaltest ]]; then
        local COMP_WORDS=("${COMP_WORDS[@]:1}") COMP_CWORD=$((COMP_CWORD - 1))
        _evaltest evaltest "$2" "$3"
    elif [[ -n $__evaltest_before ]]; then
        "$__evaltest_before" "$@"
    fi
}
complete -F __evaltest_cargo -o bashdefault -o default cargo
"#;

/// cargo's own zsh completion calls a function of this name.
const ZSH: &str = r#"
_cargo-evaltest() {
    _evaltest "$@"
}
"#;

const FISH: &str = r"
complete -c cargo-evaltest -w evaltest

function __evaltest_of_cargo
    set -l words (commandline -opc) (commandline -ct)
    complete -C (string join ' ' -- $words[2..-1])
end
complete -c cargo -n '__fish_seen_subcommand_from evaltest' -f -a '(__evaltest_of_cargo)'
";

const ELVISH: &str = "
set edit:completion:arg-completer[cargo-evaltest] = $edit:completion:arg-completer[evaltest]
";
