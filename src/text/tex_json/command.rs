//! TeX commands that begin like a JSON escape: commands of plain TeX, LaTeX and AMS with `n`, `r` or `t`, and some that
//! mathematical texts define. Sorted, for binary search.

#[rustfmt::skip]
const OF_N: &[&str] = &[
    "nLeftarrow", "nLeftrightarrow", "nRightarrow", "nVDash", "nVdash", "nabla", "napprox", "nasymp", "natural",
    "ncong", "ne", "nearrow", "neg", "neq", "nequiv", "neswarrow", "newcommand", "newenvironment", "newline",
    "newpage", "newtheorem", "nexists", "ngeq", "ngeqq", "ngeqslant", "ngtr", "ni", "nicefrac", "nleftarrow",
    "nleftrightarrow", "nleq", "nleqq", "nleqslant", "nless", "nmid", "nobreak", "nobreakspace", "nocite",
    "noindent", "nolimits", "nolinebreak", "nonumber", "nopagebreak", "norm", "normalfont", "normalsize", "not",
    "notag", "notin", "notni", "nparallel", "nplus", "nprec", "npreceq", "nrightarrow", "nshortmid",
    "nshortparallel", "nsim", "nsimeq", "nsqsubseteq", "nsqsupseteq", "nsubset", "nsubseteq", "nsubseteqq",
    "nsucc", "nsucceq", "nsupset", "nsupseteq", "nsupseteqq", "ntriangleleft", "ntrianglelefteq",
    "ntriangleright", "ntrianglerighteq", "nu", "null", "nulldelimiterspace", "numberwithin", "nvDash",
    "nvdash", "nwarrow", "nwsearrow",
];

#[rustfmt::skip]
const OF_R: &[&str] = &[
    "rVert", "ra", "rad", "raggedleft", "raggedright", "raise", "raisebox", "rangle", "rank", "rbrace",
    "rbrack", "rcases", "rceil", "rdelim", "real", "ref", "refstepcounter", "relax", "renewcommand",
    "renewenvironment", "restriction", "rfloor", "rgroup", "rhd", "rho", "rhook", "right", "rightangle",
    "rightarrow", "rightarrowfill", "rightarrowtail", "rightharpoondown", "rightharpoonup", "rightleftarrows",
    "rightleftharpoons", "rightmargin", "rightrightarrows", "rightskip", "rightsquigarrow", "rightthreetimes",
    "risingdotseq", "rlap", "rm", "rmdefault", "rmfamily", "rmoustache", "roman", "root", "rotatebox", "rparen",
    "rrbracket", "rtimes", "rule", "rvert",
];

#[rustfmt::skip]
const OF_T: &[&str] = &[
    "tabcolsep", "tabularnewline", "tag", "tan", "tanh", "tau", "tbinom", "tcfrac", "tensor", "text",
    "textasciicircum", "textasciitilde", "textbackslash", "textbar", "textbf", "textbraceleft",
    "textbraceright", "textbullet", "textcircled", "textcolor", "textcopyright", "textdegree", "textdollar",
    "textellipsis", "textemdash", "textendash", "textgreater", "textheight", "textit", "textless", "textmd",
    "textmu", "textnormal", "textonehalf", "textordfeminine", "textordmasculine", "textperiodcentered",
    "textquotedblleft", "textquotedblright", "textquoteleft", "textquoteright", "textquotesingle",
    "textregistered", "textrm", "textsc", "textsf", "textsl", "textstyle", "textsubscript", "textsuperscript",
    "texttrademark", "texttt", "textunderscore", "textup", "textwidth", "tfrac", "tg", "tgh", "thanks",
    "therefore", "theta", "thetasym", "thickapprox", "thicksim", "thickspace", "thinspace", "thispagestyle",
    "tikz", "tikzpicture", "tilde", "times", "tiny", "title", "tmod", "to", "today", "top", "topmargin",
    "toprule", "totient", "tr", "trace", "triangle", "triangledown", "triangleleft", "trianglelefteq",
    "triangleq", "triangleright", "trianglerighteq", "tt", "ttfamily", "twocolumn", "twoheadleftarrow",
    "twoheadrightarrow", "typeout",
];

/// Whether the run of letters that comes next is a command.
pub(super) fn starts(rest: &[u8]) -> bool {
    let commands = match rest.first() {
        Some(b'n') => OF_N,
        Some(b'r') => OF_R,
        Some(b't') => OF_T,
        _ => return false,
    };
    let run = &rest[..length(rest)];
    // An accented letter continues a word: U+00C0 to U+024F begin with these bytes.
    let is_within_word = matches!(rest.get(run.len()), Some(0xc3..=0xc9));
    !is_within_word
        && commands
            .binary_search_by(|command| command.as_bytes().cmp(run))
            .is_ok()
}

/// The number of letters that come next.
pub(super) fn length(rest: &[u8]) -> usize {
    let end = rest.iter().position(|byte| !byte.is_ascii_alphabetic());
    end.unwrap_or(rest.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_stand_in_their_order_under_their_letter() {
        for (letter, commands) in [("n", OF_N), ("r", OF_R), ("t", OF_T)] {
            assert!(commands.is_sorted_by(|one, next| one < next), "{letter}");
            for command in commands {
                assert!(
                    command.starts_with(letter) && command.len() > 1,
                    "{command}"
                );
                assert!(starts(command.as_bytes()), "{command}");
            }
        }
    }

    #[test]
    fn the_whole_run_of_letters_counts() {
        let check =
            |rest: &str, expect: bool| assert_eq!(starts(rest.as_bytes()), expect, "{rest}");
        check("nu}", true);
        check("neq3", true);
        check("times中", true);
        check("nnot so", false);
        check("n", false);
        check("text", true);
        check("texts", false);
        check("ne\u{301}", true);
        check("taué", false);
        check("", false);
        check("frac", false);
    }
}
