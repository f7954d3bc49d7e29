//! TeX commands that begin like a JSON escape: commands of plain TeX, LaTeX, AMS and usual packages (siunitx, tikz,
//! textcomp) with `n`, `r` or `t`, and some that mathematical texts define. Sorted, for binary search.
//!
//! Commands whose rest is a word of its own (`\nand`, `\nor`, `\the`) are left out: a line break before that word is as
//! likely. `\b`, `\f` and all other letters need no list.

#[rustfmt::skip]
const OF_N: &[&str] = &[
    "nLeftarrow", "nLeftrightarrow", "nRightarrow", "nVDash", "nVdash", "nVert", "nabla", "namecref", "namecrefs",
    "nameref", "nano", "napprox", "nasymp", "natural", "nauticalmile", "nbacksim", "ncong", "ndownarrow", "ne",
    "nearrow", "neg", "neper", "neq", "nequiv", "neswarrow", "newacronym", "newcolumntype", "newcommand",
    "newcounter", "newdimen", "newenvironment", "newfloat", "newglossaryentry", "newif", "newlength", "newline",
    "newmathop", "newpage", "newsavebox", "newtcbox", "newtcolorbox", "newtheorem", "newtheoremstyle", "newton",
    "newunicodechar", "nexists", "ngeq", "ngeqq", "ngeqslant", "ngtr", "ngtrless", "ngtrsim", "ni", "nicefrac",
    "nleftarrow", "nleftrightarrow", "nleq", "nleqq", "nleqslant", "nless", "nlessgtr", "nlesssim", "nmid",
    "nmodels", "nnearrow", "nnwarrow", "nobreak", "nobreakspace", "nocite", "node", "nodepart", "noindent",
    "nointerlineskip", "nolimits", "nolinebreak", "nolinkurl", "nomenclature", "nonumber", "nopagebreak", "norm",
    "normalbaselineskip", "normalcolor", "normalfont", "normalsize", "not", "notag", "notin", "notni",
    "nparallel", "nplus", "nprec", "npreceq", "nrightarrow", "nshortmid", "nshortparallel", "nsim", "nsimeq",
    "nsqsubseteq", "nsqsupseteq", "nsubset", "nsubseteq", "nsubseteqq", "nsucc", "nsucceq", "nsupset",
    "nsupseteq", "nsupseteqq", "ntriangleleft", "ntrianglelefteq", "ntriangleright", "ntrianglerighteq", "nu",
    "null", "nulldelimiterspace", "num", "numberthis", "numberwithin", "numexpr", "numlist", "numproduct",
    "numrange", "nuparrow", "nvDash", "nvdash", "nvert", "nvrightarrow", "nwarrow", "nwsearrow",
];

#[rustfmt::skip]
const OF_R: &[&str] = &[
    "rVert", "rVvert", "ra", "rad", "radian", "raggedleft", "raggedright", "raise", "raisebox", "raiseto",
    "rangle", "rank", "rbag", "rbrace", "rbrack", "rcases", "rceil", "rcurvearrowdown", "rdelim", "rdots", "real",
    "ref", "refeq", "reflectbox", "refstepcounter", "relax", "renewcommand", "renewenvironment", "renewtheorem",
    "reqno", "reqnomode", "resizebox", "restoregeometry", "restriction", "rfloor", "rgroup", "rhd", "rho",
    "rhook", "right", "rightangle", "rightarrow", "rightarrowfill", "rightarrowtail", "rightdasharrow",
    "rightharpoondown", "rightharpoonup", "rightleftarrows", "rightleftharpoons", "rightmargin", "rightmoon",
    "rightrightarrows", "rightrightharpoons", "rightskip", "rightsquigarrow", "rightthreetimes", "rightturn",
    "rimplies", "risingdotseq", "rlap", "rm", "rmdefault", "rmfamily", "rmoustache", "roman", "ronna", "ronto",
    "root", "rotatebox", "rounded", "rowcolor", "rowcolors", "rowfont", "rowvec", "rparen", "rrangle",
    "rrbracket", "rsem", "rtimes", "rtriangle", "rule", "rvert", "rvvert",
];

#[rustfmt::skip]
const OF_T: &[&str] = &[
    "tabcolsep", "tablefootnote", "tablenum", "tableofcontents", "tabto", "tabularnewline", "tabulinesep", "tag",
    "tan", "tanh", "tau", "tbinom", "tcbline", "tcblower", "tcbox", "tcboxmath", "tcbset", "tcfrac",
    "tdplotsetmaincoords", "tensor", "tera", "tesla", "text", "textasciicircum", "textasciitilde",
    "textbackslash", "textbaht", "textbar", "textbf", "textbfit", "textbigcircle", "textbraceleft",
    "textbraceright", "textbullet", "textcelsius", "textcent", "textcircled", "textcite", "textcites",
    "textcolor", "textcopyright", "textcurrency", "textcyrillic", "textdagger", "textdaggerdbl", "textdegree",
    "textdiv", "textdollar", "textellipsis", "textemdash", "textendash", "texteuro", "textexclamdown",
    "textfloatsep", "textgreater", "textgreek", "textheight", "textinterrobang", "textit", "textlangle",
    "textless", "textmd", "textminus", "textmu", "textmultiply", "textnormal", "textnumero", "textohm",
    "textonehalf", "textonequarter", "textonesuperior", "textordfeminine", "textordmasculine", "textparagraph",
    "textperiodcentered", "textpertenthousand", "textperthousand", "textpm", "textquestiondown",
    "textquotedblleft", "textquotedblright", "textquoteleft", "textquoteright", "textquotesingle", "textrangle",
    "textregistered", "textrm", "textsc", "textsection", "textsf", "textsl", "textsterling", "textstyle",
    "textsubscript", "textsuperscript", "textsurd", "textthreequarters", "textthreesuperior", "texttimes",
    "texttrademark", "texttt", "texttwosuperior", "textunderscore", "textup", "textvisiblespace", "textwidth",
    "textyen", "tfrac", "tg", "tgh", "thanks", "thead", "theequation", "thepage", "therefore", "thesection",
    "theta", "thetasym", "thickapprox", "thicksim", "thickspace", "thinspace", "thispagestyle", "thmref", "tikz",
    "tikzcd", "tikzmark", "tikzpicture", "tikzset", "tikzstyle", "tilde", "times", "tiny", "title", "tkzDefPoint",
    "tkzDefPoints", "tkzDrawPoint", "tkzDrawPoints", "tkzDrawPolygon", "tkzDrawSegment", "tkzDrawSegments",
    "tkzLabelPoint", "tkzLabelPoints", "tmod", "tnote", "to", "today", "todo", "tolerance", "tonne", "top",
    "topmargin", "toprule", "topsep", "topskip", "tothe", "totient", "tr", "trace", "transparent", "trapezium",
    "triangle", "trianglecdot", "triangledown", "triangleleft", "trianglelefteq", "triangleq", "triangleright",
    "trianglerighteq", "tripledash", "tt", "ttfamily", "twocolumn", "twoheadleftarrow", "twoheadrightarrow",
    "twonotes", "typearea", "typein", "typeout",
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
        for siunitx in [
            "num{36}",
            "numrange{1}{2}",
            "numlist{1;2}",
            "newton",
            "radian",
            "tesla",
        ] {
            check(siunitx, true);
        }
        for word in ["nand", "nor", "the", "tone"] {
            check(word, false);
        }
    }
}
