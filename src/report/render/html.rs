//! HTML: self-contained pages that work without scripts, from disk or as a CI artifact.
//!
//! A page consists of a frame (`page`), escaped texts (`escape`) and inline charts (`chart`).

use std::io::{self, Write};

use self::escape::{lines, text};
use self::page::HtmlPage;
use super::super::document::{
    Align, Block, Document, Fold, Group, Line, Span, Table, TableFilter, Tone, pieces,
};

pub(crate) mod chart;
mod embedded;
pub(crate) mod escape;
pub(crate) mod page;
pub(crate) mod runs;
mod script;

pub(crate) use script::{REPORT, VIEW};

/// Writes a page that shows documents, without scripts.
pub fn page(title: &str, documents: &[Document], out: &mut dyn Write) -> io::Result<()> {
    let page = HtmlPage {
        title,
        scripts: &[],
    };
    page.begin(out)?;
    documents
        .iter()
        .try_for_each(|content| document(content, 1, out))?;
    page.end(out)
}

/// Writes a document with its title as a heading of this level.
pub(crate) fn document(content: &Document, level: usize, out: &mut dyn Write) -> io::Result<()> {
    heading(level, &content.title, out)?;
    blocks(&content.blocks, level, out)
}

/// Writes the content below a heading of this level.
pub(crate) fn blocks(blocks: &[Block], level: usize, out: &mut dyn Write) -> io::Result<()> {
    blocks
        .iter()
        .try_for_each(|block| self::block(block, level, out))
}

fn block(block: &Block, level: usize, out: &mut dyn Write) -> io::Result<()> {
    match block {
        Block::Heading(below, title) => heading(level + usize::from(*below).max(2) - 1, title, out),
        Block::Paragraph(text) => writeln!(out, "<p>{}</p>", line(text)),
        Block::Note(text) => writeln!(out, "<p class=\"warn\">{}</p>", line(text)),
        Block::List(items) => list("ul", items, out),
        Block::Numbered(items) => list("ol", items, out),
        Block::Facts(facts) => {
            writeln!(out, "<ul class=\"facts\">")?;
            for (name, value) in facts {
                let (name, value) = (words(name), line(value));
                writeln!(
                    out,
                    "<li><span class=\"soft\">{name}</span> <b>{value}</b></li>"
                )?;
            }
            writeln!(out, "</ul>")
        }
        Block::Table(content) => table(content, out),
        Block::Intervals(content) => chart::intervals(content, out),
        Block::Chart(content) => chart::chart(content, out),
        Block::Verbatim(text) => writeln!(out, "<pre>{}</pre>", lines(text)),
        Block::Marked(tone, parts) => {
            let class = match tone {
                Tone::Good => "right",
                Tone::Bad => "wrong",
                Tone::Plain | Tone::Unsure | Tone::Faint => "other",
            };
            write!(out, "<pre>")?;
            for (is_marked, part) in parts {
                match is_marked {
                    true => write!(out, "<mark class=\"{class}\">{}</mark>", lines(part))?,
                    false => write!(out, "{}", lines(part))?,
                }
            }
            writeln!(out, "</pre>")
        }
        Block::Group(content) => group(content, level, out),
        Block::Framed(tone, framed) => {
            let class = match tone {
                Tone::Good => " passed",
                Tone::Bad => " failed",
                Tone::Unsure => " inconclusive",
                Tone::Plain | Tone::Faint => "",
            };
            writeln!(out, "<div class=\"box{class}\">")?;
            blocks(framed, level, out)?;
            writeln!(out, "</div>")
        }
        Block::Columns(columns) => {
            writeln!(out, "<div class=\"sides\">")?;
            for column in columns {
                writeln!(out, "<div>")?;
                blocks(column, level, out)?;
                writeln!(out, "</div>")?;
            }
            writeln!(out, "</div>")
        }
    }
}

fn group(content: &Group, level: usize, out: &mut dyn Write) -> io::Result<()> {
    let title = match &*content.title.0 {
        [] => "Details".to_owned(),
        _ => line(&content.title),
    };
    let open = match content.fold {
        Fold::Never => {
            writeln!(out, "<p>{title}</p>")?;
            return blocks(&content.blocks, level, out);
        }
        Fold::Open => " open",
        Fold::Closed => "",
    };
    writeln!(out, "<details{open}><summary>{title}</summary>")?;
    blocks(&content.blocks, level, out)?;
    writeln!(out, "</details>")
}

fn heading(level: usize, title: &str, out: &mut dyn Write) -> io::Result<()> {
    let level = level.min(6);
    writeln!(out, "<h{level}>{}</h{level}>", words(title))
}

/// A text of evaltest: what stands in backticks is code.
pub(crate) fn words(raw: &str) -> String {
    let pieces = pieces(raw).into_iter();
    let pieces = pieces.map(|(is_code, piece)| {
        if is_code {
            format!("<code>{}</code>", text(piece))
        } else {
            text(piece).to_string()
        }
    });
    pieces.collect()
}

/// Renders a line of text.
pub(crate) fn line(line: &Line) -> String {
    let spans = line.0.iter().map(|span| match span {
        Span::Plain(raw) | Span::Toned(Tone::Plain, raw) => words(raw),
        Span::Quoted(raw) => text(raw).to_string(),
        Span::Strong(raw) => format!("<strong>{}</strong>", words(raw)),
        Span::Code(raw) => format!("<code>{}</code>", text(raw)),
        Span::Toned(tone, raw) => {
            format!("<span class=\"{}\">{}</span>", class(*tone), words(raw))
        }
        Span::Link(raw, to) => format!("<a href=\"#{}\">{}</a>", text(to), words(raw)),
        Span::Break => "<br>".to_owned(),
    });
    spans.collect()
}

/// CSS class of a colour.
pub(crate) fn class(tone: Tone) -> &'static str {
    match tone {
        Tone::Plain => "",
        Tone::Good => "good",
        Tone::Bad => "bad",
        Tone::Unsure => "warn",
        Tone::Faint => "soft",
    }
}

fn list(tag: &str, items: &[Line], out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "<{tag}>")?;
    for item in items {
        writeln!(out, "<li>{}</li>", line(item))?;
    }
    writeln!(out, "</{tag}>")
}

/// The attribute by which a cell keeps its label where a narrow page has no head.
fn label_of(head: &str) -> String {
    match head {
        "" => String::new(),
        head => format!(" data-label=\"{}\"", text(head)),
    }
}

fn table(content: &Table, out: &mut dyn Write) -> io::Result<()> {
    let class = |place: usize| match content.heads.get(place) {
        Some((_, Align::Right)) => " class=\"n\"",
        _ => "",
    };
    let label = match &*content.caption {
        "" => "Table",
        caption => caption,
    };
    let mut stays: &[bool] = &[];
    match &content.filter {
        Some(TableFilter::Switch(label, rows)) => {
            stays = rows;
            let label = text(label);
            writeln!(
                out,
                "<div class=\"filtered\">\n<label class=\"tools\"><input type=\"checkbox\"> {label}</label>"
            )?;
        }
        Some(TableFilter::Columns(heads)) => {
            writeln!(out, "<div data-filter=\"{}\">", text(&heads.join(" ")))?;
        }
        None => {}
    }
    // A table wider than the page scrolls, with the keyboard, too.
    writeln!(
        out,
        "<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"{}\"><table class=\"words\">",
        text(label)
    )?;
    if !content.caption.is_empty() {
        writeln!(out, "<caption>{}</caption>", words(&content.caption))?;
    }
    writeln!(out, "<thead><tr>")?;
    for (place, (head, _)) in content.heads.iter().enumerate() {
        let class = class(place);
        writeln!(out, "<th scope=\"col\"{class}>{}</th>", words(head))?;
    }
    writeln!(out, "</tr></thead><tbody>")?;
    for (number, row) in content.rows.iter().enumerate() {
        let hidden = if stays.get(number) == Some(&false) {
            " class=\"other\""
        } else {
            ""
        };
        write!(out, "<tr{hidden}>")?;
        for (place, cell) in row.iter().enumerate() {
            let (class, cell) = (class(place), line(cell));
            let head = content.heads.get(place).map_or("", |(head, _)| head);
            match place {
                0 => write!(out, "<th scope=\"row\"{class}>{cell}</th>")?,
                _ => write!(out, "<td{class}{}>{cell}</td>", label_of(head))?,
            }
        }
        writeln!(out, "</tr>")?;
    }
    writeln!(out, "</tbody></table></div>")?;
    match content.filter {
        Some(_) => writeln!(out, "</div>"),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::document::{IntervalRow, IntervalScale, Intervals};

    #[test]
    fn texts_of_others_stay_texts() {
        let mut doc = Document::new("<a>");
        doc.section("b\u{202e}");
        doc.note(Line::default().strong("<b>").plain(" & ").code("rm \"x\""));
        let mut table = Table::new(&[("<i>", Align::Left), ("n", Align::Right)]);
        table.row(["<script>", "1"]);
        table.row([Line::default().quoted("`<k>`"), "a `<l>`".into()]);
        doc.table(table);
        doc.blocks.push(Block::Numbered(vec!["<u>".into()]));
        doc.blocks.push(Block::Intervals(Intervals {
            caption: "<v>".to_owned(),
            heads: <[String; 3]>::default(),
            scale: IntervalScale::SHARES,
            rows: vec![IntervalRow {
                label: "<s>".to_owned(),
                value: Some(0.5),
                interval: Some([0.4, 0.6]),
                figures: "<q>".to_owned(),
                ..IntervalRow::default()
            }],
        }));
        let parts = [(true, "<z>"), (false, "\"")];
        let parts = parts.map(|(is_marked, part)| (is_marked, part.to_owned()));
        doc.blocks.push(Block::Marked(Tone::Bad, parts.into()));
        let mut out = Vec::new();
        document(&doc, 1, &mut out).unwrap();
        let out = String::from_utf8(out).unwrap();
        for expect in [
            "<h1>&lt;a&gt;</h1>\n<h2>b\\u{202e}</h2>\n",
            "<p class=\"warn\"><strong>&lt;b&gt;</strong> &amp; <code>rm &quot;x&quot;</code></p>",
            "<tr><th scope=\"row\">&lt;script&gt;</th><td class=\"n\" data-label=\"n\">1</td></tr>",
            "<th scope=\"row\">`&lt;k&gt;`</th>",
            ">a <code>&lt;l&gt;</code></td>",
            "<ol>\n<li>&lt;u&gt;</li>\n</ol>",
            "&lt;q&gt;",
            "<pre><mark class=\"wrong\">&lt;z&gt;</mark>&quot;</pre>",
        ] {
            assert!(out.contains(expect), "`{expect}` is not in:\n{out}");
        }
        for not in ["<a>", "<b>", "<i>", "<script>", "<u>", "<s>", "<q>", "<z>"] {
            assert!(!out.contains(not), "`{not}` is in:\n{out}");
        }
    }
}
