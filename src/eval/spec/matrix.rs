//! `SpecMatrix`: a spec with several agents and prompts, and its evals.
//!
//! Each eval has one agent and one prompt, and is an ordinary eval: it has its own name (`NAME@small+short`), and so
//! its own run directory, baseline and tests. A gate that names an agent or prompt belongs to those variants.

use serde_json::Value;

use super::keys::{ByName, SpecFile, SpecGate};
use super::parts::ChosenParts;
use crate::data::Variant;
use crate::error::{Error, KeyPath, Result, Step, Under, nearest};
use crate::eval::{Eval, plan};
use crate::verdict::gate::{Gate, Slice, without_variants};

/// The keys for one agent or prompt and for several; the first is also the name in a gate.
pub(super) const AGENT: [&str; 2] = ["agent", "agents"];
pub(super) const PROMPT: [&str; 2] = ["prompt", "prompts"];

/// The names below `agents` and `prompts`, in order; empty for keys that the spec does not have.
#[derive(Clone, Debug, Default)]
pub(super) struct SpecMatrix {
    agents: Vec<String>,
    prompts: Vec<String>,
}

/// The gates of one variant.
#[derive(Default)]
pub(super) struct VariantGates {
    pub(super) gates: Vec<Gate>,
    /// Their texts, without the variant.
    texts: Vec<Value>,
    /// The position of each in the list of the spec.
    items: Vec<usize>,
    /// Gates that name what the command line replaced.
    pub(super) unasked: Vec<String>,
}

impl Eval {
    /// The name of its spec: its own name unless the spec names several agents or prompts.
    pub fn family(&self) -> &str {
        let variant = self.variant.to_string();
        self.name.strip_suffix(&variant).unwrap_or(&self.name)
    }

    /// Its agent and prompt, if the spec names several.
    pub(crate) fn variant(&self) -> Option<&Variant> {
        (self.variant != Variant::default()).then_some(&self.variant)
    }
}

impl SpecMatrix {
    /// The matrix of a spec.
    ///
    /// # Errors
    /// When it has both one and several, names none, or a name is not allowed in the name of an eval.
    pub(super) fn of(spec: &SpecFile) -> Result<Self> {
        let agents = spec.agents.as_ref().map(ByName::names);
        let prompts = spec.prompts.as_ref().map(ByName::names);
        Ok(Self {
            agents: names(AGENT, spec.agent.is_some(), agents)?,
            prompts: names(PROMPT, spec.prompt.is_some(), prompts)?,
        })
    }

    /// The variants of the spec; a single empty one for one agent and one prompt.
    pub(super) fn variants(&self) -> Vec<Variant> {
        let each = |names: &[String]| match names {
            [] => vec![None],
            names => names.iter().cloned().map(Some).collect(),
        };
        let agents = each(&self.agents).into_iter();
        agents
            .flat_map(|agent| {
                each(&self.prompts).into_iter().map(move |prompt| Variant {
                    agent: agent.clone(),
                    prompt,
                })
            })
            .collect()
    }

    /// Whether the spec has one agent and one prompt.
    pub(super) fn is_empty(&self) -> bool {
        self.agents.is_empty() && self.prompts.is_empty()
    }

    fn named(&self, kind: &str) -> &[String] {
        if kind == AGENT[0] {
            &self.agents
        } else {
            &self.prompts
        }
    }

    /// The gates of a variant. `written` is the matrix of the text, parts of which the command line may have replaced.
    ///
    /// # Errors
    /// When a gate names an unknown agent or prompt, or two gates are the same for this variant.
    pub(super) fn gates(
        &self,
        gates: Vec<SpecGate>,
        variant: &Variant,
        written: &Self,
    ) -> Result<VariantGates> {
        let kinds = [AGENT, PROMPT].map(|[kind, _]| kind).into_iter();
        let kinds = kinds.filter(|kind| {
            let known = [self, written].map(|it| it.named(kind).len());
            known != [0, 0]
        });
        let kinds: Vec<&str> = kinds.collect();
        let mut own = VariantGates::default();
        let mut named = Vec::<(String, String)>::new();
        for (item, SpecGate { text, gate }) in gates.into_iter().enumerate() {
            let (rest, requested) = without_variants(&text, &kinds);
            let mut is_own = true;
            for (place, slice) in requested.iter().enumerate() {
                let of_kind = |it: &Slice| it.dimension == slice.dimension;
                if requested[..place].iter().any(of_kind) {
                    let message = format!("gate `{text}` names two {}s", slice.dimension);
                    let error = Error::usage(message).hint("write a gate for each of them");
                    return Err(error.under(item).under("gates"));
                }
                let known = [self, written].map(|it| it.named(&slice.dimension));
                if !known.concat().contains(&slice.value) {
                    let error = unknown(&text, slice, &known.concat());
                    return Err(error.under(item).under("gates"));
                }
                let has = match slice.dimension.as_str() {
                    "agent" => &variant.agent,
                    _ => &variant.prompt,
                };
                if has.is_none() {
                    own.unasked.push(text.clone());
                }
                is_own &= has.as_ref() == Some(&slice.value);
            }
            if !is_own {
                continue;
            }
            let gate = if requested.is_empty() {
                gate
            } else {
                let gate: Result<Gate> = rest.parse();
                gate.under(item).under("gates")?
            };
            let name = gate.name();
            if let Some((_, first)) = named.iter().find(|(known, _)| *known == name) {
                // Duplicates in all variants are reported elsewhere.
                if without_variants(first, &kinds).1 != requested {
                    let message = format!(
                        "two gates of `{variant}` are called `{name}`: `{first}` and `{text}`"
                    );
                    let error = Error::usage(message)
                        .hint("a gate without a variant's name is checked for every variant: name one variant in each of the two");
                    return Err(error.under(item).under("gates"));
                }
            }
            named.push((name, text));
            own.gates.push(gate);
            own.texts.push(rest.into());
            own.items.push(item);
        }
        Ok(own)
    }
}

impl VariantGates {
    /// Where a variant's path is in the spec: below `agents.small` for what is below `agent`.
    pub(super) fn written(&self, path: &KeyPath, variant: &Variant) -> KeyPath {
        let mut steps = path.steps();
        let head = |[_, all]: [&str; 2], name: &Option<String>| {
            let name = name.as_ref()?;
            Some(path.with_head(1, [Step::from(all), Step::Key(name.clone())]))
        };
        let moved = match (steps.next(), steps.next()) {
            (Some(Step::Key(key)), _) if *key == AGENT[0] => head(AGENT, &variant.agent),
            (Some(Step::Key(key)), _) if *key == PROMPT[0] => head(PROMPT, &variant.prompt),
            (Some(Step::Key(key)), Some(Step::Item(item))) if key == "gates" => {
                let item = self.items.get(*item);
                item.map(|&item| path.with_head(2, [Step::from("gates"), Step::Item(item)]))
            }
            _ => None,
        };
        moved.unwrap_or_else(|| path.clone())
    }
}

impl SpecFile {
    /// Keeps only the agent and the prompt of one variant.
    pub(super) fn choose(&mut self, variant: &Variant) {
        if let (Some(name), Some(all)) = (&variant.agent, self.agents.take()) {
            self.agent = all.take(name);
        }
        if let (Some(name), Some(all)) = (&variant.prompt, self.prompts.take()) {
            self.prompt = all.take(name).map(|prompt| prompt.0);
        }
    }
}

impl ChosenParts {
    /// Keeps only the agent of one variant.
    pub(super) fn choose(&mut self, variant: &Variant) {
        if let Some(name) = &variant.agent {
            let place = self.agents.iter().position(|(known, _)| known == name);
            let agent = place.map(|place| self.agents.swap_remove(place).1);
            self.agent = agent.or(self.agent.take());
        }
    }
}

/// The spec of this variant alone.
pub(super) fn config(mut value: Value, variant: &Variant, gates: &VariantGates) -> Value {
    let Value::Object(map) = &mut value else {
        return value;
    };
    for ([one, all], name) in [(AGENT, &variant.agent), (PROMPT, &variant.prompt)] {
        let named = name.as_ref();
        let chosen = named.and_then(|name| map.get_mut(all)?.get_mut(name).map(Value::take));
        if let Some(chosen) = chosen {
            map.remove(all);
            map.insert(one.to_owned(), chosen);
        }
    }
    if map.get("gates").is_some_and(Value::is_array) {
        map.insert("gates".to_owned(), gates.texts.clone().into());
    }
    value
}

/// The names of one kind, checked.
fn names([one, all]: [&str; 2], has_one: bool, names: Option<Vec<String>>) -> Result<Vec<String>> {
    let Some(names) = names else {
        return Ok(Vec::new());
    };
    if has_one {
        let error = Error::usage(format!("both `{one}` and `{all}` are given"));
        let error = error.hint(format!(
            "keep one of the two: the value of `{one}` can be an entry of `{all}`"
        ));
        return Err(error.of_key(all));
    }
    if names.is_empty() {
        let example = match one {
            "agent" => "agents: { small: echo, large: { type: command, command: [./agent] } }",
            _ => "prompts: { short: concise, plain: none }",
        };
        let error = Error::usage(format!("`{all}` names no {one}"));
        return Err(error.hint(format!("write `{example}`")).under(all));
    }
    for (place, name) in names.iter().enumerate() {
        let of = |error: Error| error.of_key(name).under(all);
        if name.is_empty() || name.starts_with('.') || !name.chars().all(plan::is_name_part) {
            let what = format!(
                "`{}` cannot be the name of {} {one}",
                name.escape_debug(),
                article(one)
            );
            return Err(of(Error::usage(what).hint(
                "use letters, digits, `-`, `_` and `.`, and begin with no `.`: files and tests are called by it",
            )));
        }
        let folded = name.to_lowercase();
        let mut before = names[..place].iter();
        if let Some(first) = before.find(|first| first.to_lowercase() == folded) {
            let what = format!(
                "`{first}` and `{name}` differ only in case, which some file systems ignore"
            );
            return Err(of(Error::usage(what).hint("give one of them another name")));
        }
    }
    Ok(names)
}

fn article(word: &str) -> &'static str {
    if word.starts_with('a') { "an" } else { "a" }
}

/// The error for a gate on an unknown agent or prompt.
fn unknown(text: &str, slice: &Slice, known: &[String]) -> Error {
    // Each name occurs once per combination.
    let mut named = std::collections::BTreeSet::new();
    let known = known.iter().map(String::as_str);
    let known: Vec<&str> = known.filter(|name| named.insert(*name)).collect();
    let (kind, name) = (&slice.dimension, &slice.value);
    let error = Error::usage(format!("gate `{text}`: the spec has no {kind} `{name}`"));
    let all = known.join("`, `");
    error.hint(match nearest(name, known.iter().copied()) {
        Some(near) => format!("did you mean `[{kind}={near}]`? its {kind}s: `{all}`"),
        None => format!("its {kind}s: `{all}`"),
    })
}
