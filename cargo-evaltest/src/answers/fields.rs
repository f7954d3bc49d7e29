//! `Fields`: maps roles to fields of a line, as `--map` sets them.

use evaltest::dataset::Rows;
use evaltest::engine::text::{Cursor, Raw};
use evaltest::scorer::Reads;
use evaltest::{Error, Result};

use super::answered::Wanted;

/// The roles, in the order of [`Fields::paths`]: first those that every scorer reads.
const ROLES: [&str; 6] = [
    "prediction",
    "ground_truth",
    "trajectory",
    "tool_calls",
    "metadata",
    "id",
];

/// Default id fields: the first one present is used, unless `--map` names one.
const IDS: [&str; 3] = ["sample_id", "task_id", "id"];

/// The number of fields with those of ids.
pub(super) const WITH_IDS: usize = ID + IDS.len();
/// The maximum number of fields.
pub(super) const MANY: usize = CALL_ID + 1;

pub(super) const PREDICTION: usize = 0;
pub(super) const GROUND_TRUTH: usize = 1;
pub(super) const TRAJECTORY: usize = 2;
pub(super) const TOOL_CALLS: usize = 3;
pub(super) const METADATA: usize = 4;
pub(super) const ID: usize = 5;

/// For scorers that read calls: these replace prediction and trajectory, and go into the metadata.
pub(super) const MODEL_RESULT: usize = 5;
pub(super) const MESSAGES: usize = 6;
pub(super) const MODE: usize = 7;
pub(super) const CALL_ID: usize = 8;

/// The fields of a line.
#[derive(Clone, Debug)]
pub(crate) struct Fields {
    paths: Vec<Path>,
    /// Bit mask of the fields whose first key has this length, to skip most keys quickly. The last entry is for all
    /// longer keys.
    by_length: [u16; LENGTHS],
}

const LENGTHS: usize = 32;

/// The path of a value in an object.
#[derive(Clone, Debug)]
pub(super) struct Path {
    /// The path as typed.
    text: String,
    /// The top-level key.
    first: String,
    /// The keys and array indices below it.
    steps: Vec<String>,
    /// Whether `--map` set it.
    is_mapped: bool,
}

impl Fields {
    /// Parses the `--map` options; roles that are not mapped keep their names.
    pub(crate) fn parse(maps: &[String]) -> Result<Self> {
        let mut paths = Self::named(ROLES[..ID].iter().chain(&IDS)).paths;
        for pair in maps.iter().flat_map(|map| map.split(',')) {
            let (role, field) = pair
                .split_once('=')
                .map_or((pair, ""), |(role, field)| (role.trim(), field.trim()));
            let role = ROLES.iter().position(|name| *name == role).ok_or_else(|| {
                Error::usage(format!(
                    "`--map {pair}`: unknown role `{role}`, expected one of `{}`",
                    ROLES.join("`, `")
                ))
                .hint("write `--map prediction=FIELD,ground_truth=FIELD`")
            })?;
            let name = ROLES[role];
            if paths[role].is_mapped {
                return Err(Error::usage(format!("`--map` names `{name}` twice")));
            }
            let path = Path::parse(field).ok_or_else(|| {
                Error::usage(format!("`--map {pair}` names no field")).hint(format!(
                    "write `--map {name}=FIELD`, FIELD being a name, `a.b` or `/a/b`"
                ))
            })?;
            if role == ID {
                paths.truncate(ID);
                paths.push(path);
            } else {
                paths[role] = path;
            }
        }
        Ok(Self::of(paths))
    }

    fn of(paths: Vec<Path>) -> Self {
        let mut by_length = [0; LENGTHS];
        for (place, path) in paths.iter().enumerate() {
            for key in [&path.first, &path.text] {
                by_length[key.len().min(LENGTHS - 1)] |= 1 << place;
            }
        }
        Self { paths, by_length }
    }

    /// Also accepts other programs' names for calls, and what those need besides: they replace id fields.
    pub(crate) fn with_calls(self) -> Self {
        let mut paths = self.paths;
        paths.truncate(ID);
        paths.extend(Self::named(&["model_result", "messages", "mode", "id"]).paths);
        Self::of(paths)
    }

    /// Fields with these names.
    pub(crate) fn named<'a>(names: impl IntoIterator<Item = &'a &'a str>) -> Self {
        let named = |name: &&str| Path {
            text: (*name).to_owned(),
            first: (*name).to_owned(),
            steps: Vec::new(),
            is_mapped: false,
        };
        Self::of(names.into_iter().map(named).collect())
    }

    /// Stores a member's value if it is, or contains, one of the first `count` fields.
    #[inline]
    pub(super) fn put<'a>(
        &self,
        count: usize,
        key: &Raw<'a>,
        value: Raw<'a>,
        found: &mut [Option<Raw<'a>>],
    ) {
        let mut places = match key {
            Raw::Plain(key) => self.by_length[key.len().min(LENGTHS - 1)],
            // The length of an escaped key differs from that of the field.
            _ => u16::MAX,
        };
        while places != 0 {
            let place = places.trailing_zeros() as usize;
            places &= places - 1;
            if place >= count.min(self.paths.len()) {
                return;
            }
            if let Some(value) = self.paths[place].find(key, value) {
                found[place] = Some(value);
            }
        }
    }

    /// Checks for fields that no line has: an error for one set by `--map`, warnings for others whose absence makes
    /// answers score as empty.
    pub(crate) fn missing(&self, found: u16, wanted: Wanted) -> Result<Vec<String>> {
        let missing = |place: &usize| found & (1 << place) == 0;
        let missing: Vec<usize> = (0..wanted.fields()).filter(missing).collect();
        let mapped = missing.iter().map(|&place| (place, self.name(place)));
        if let Some((place, (name, _))) = mapped.into_iter().find(|(_, (_, is_mapped))| *is_mapped)
        {
            let role = ROLES[place.min(ID)];
            return Err(Error::usage(format!(
                "`--map` names `{name}` for `{role}`, but no line has it"
            )));
        }
        let matters = |place: usize| match place {
            // The answer may be calls in another field.
            PREDICTION if !wanted.calls() => Some("every answer was judged as null"),
            TRAJECTORY if wanted.reads == Reads::Roles => {
                Some("every answer was judged without messages")
            }
            _ => None,
        };
        let missing = missing.into_iter();
        Ok(missing
            .filter_map(|place| {
                let matters = matters(place)?;
                Some(format!("no line has a `{}`: {matters}", ROLES[place]))
            })
            .collect())
    }

    /// Name of a field for messages, and whether `--map` set it.
    pub(super) fn name(&self, field: usize) -> (&str, bool) {
        let path = &self.paths[field];
        (&path.text, path.is_mapped)
    }

    /// Returns an error for a mapped column that the rows do not have.
    pub(super) fn check_columns(&self, rows: &Rows) -> Result<()> {
        let columns = rows.columns();
        let missing = |path: &&Path| {
            path.is_mapped
                && !columns.contains(&path.text.as_str())
                && !columns.contains(&path.first.as_str())
        };
        match self.paths.iter().find(missing) {
            None => Ok(()),
            Some(path) => Err(Error::usage(format!(
                "`{}`: `--map` names the column `{}`, which does not exist; found `{}`",
                rows.path.display(),
                path.text,
                columns.join("`, `")
            ))),
        }
    }
}

impl Path {
    fn parse(text: &str) -> Option<Self> {
        let unescape = |step: &str| step.replace("~1", "/").replace("~0", "~");
        let mut steps: Vec<_> = match text.strip_prefix('/') {
            Some(rest) => rest.split('/').map(unescape).collect(),
            None => text.split('.').map(str::to_owned).collect(),
        };
        let first = steps.remove(0);
        let is_whole = !text.is_empty()
            && (text.starts_with('/') || !first.is_empty() && steps.iter().all(|s| !s.is_empty()));
        is_whole.then(|| Self {
            text: text.to_owned(),
            first,
            steps,
            is_mapped: true,
        })
    }

    /// The value at this path, if it starts with the given member. A key that itself contains dots also matches.
    #[inline]
    fn find<'a>(&self, key: &Raw<'a>, value: Raw<'a>) -> Option<Raw<'a>> {
        if key.is(&self.first) {
            return self
                .steps
                .iter()
                .try_fold(value, |value, step| member(value, step));
        }
        (!self.steps.is_empty() && key.is(&self.text)).then_some(value)
    }
}

/// A member of an object or an element of an array, in JSON that was already validated.
fn member<'a>(value: Raw<'a>, step: &str) -> Option<Raw<'a>> {
    let Raw::Other(text) = value else {
        return None;
    };
    let mut cursor = Cursor::new(text, Vec::new());
    let mut found = None;
    let is_array = cursor.eat(b'[');
    if !is_array && !cursor.eat(b'{') {
        return None;
    }
    cursor.skip_space();
    if cursor.eat(b'}') || cursor.eat(b']') {
        return None;
    }
    let wanted: Option<usize> = step.parse().ok().filter(|_| is_array);
    for place in 0.. {
        cursor.skip_space();
        let is_it = if is_array {
            wanted == Some(place)
        } else {
            cursor.key().ok()?.is(step)
        };
        let value = cursor.value().ok()?;
        if is_it {
            found = Some(value);
        }
        cursor.skip_space();
        if !cursor.eat(b',') {
            break;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(path: &str, line: &str) -> Option<String> {
        let fields = Fields::parse(&[format!("prediction={path}")]).expect("fields");
        let mut cursor = Cursor::new(line, Vec::new());
        assert!(cursor.eat(b'{'));
        let key = cursor.key().expect("a key");
        let value = cursor.value().expect("a value");
        let mut found = [None];
        fields.put(1, &key, value, &mut found);
        let found = found[0]?;
        let text = found.text().map(|(text, _)| format!("{text:?}"));
        Some(text.unwrap_or_else(|| found.content().into_owned()))
    }

    #[test]
    fn paths_lead_into_objects_and_arrays() {
        let check = |path: &str, line: &str, expect: Option<&str>| {
            assert_eq!(find(path, line).as_deref(), expect, "{path} {line}");
        };
        check("a", r#"{"a":[1, 2]}"#, Some("[1, 2]"));
        check("/a", r#"{"\u0061":"x\n"}"#, Some(r#""x\n""#));
        check(
            "a.b",
            r#"{"a":{"b":1,"c":2, "b" : {"d":3}}}"#,
            Some(r#"{"d":3}"#),
        );
        check("a.b", r#"{"a.b":7}"#, Some("7"));
        check("/a/1/b", r#"{"a":[ 0 , {"b":null} ]}"#, Some("null"));
        check("a.1", r#"{"a":{"1":"x"}}"#, Some(r#""x""#));
        check("/a~1b/~01", r#"{"a/b":{"~1":5}}"#, Some("5"));
        check("/a/", r#"{"a":{"":6}}"#, Some("6"));
        for line in [
            r#"{"a":{}}"#,
            r#"{"a":[]}"#,
            r#"{"a":"b"}"#,
            r#"{"a":{"c":1}}"#,
        ] {
            check("a.b", line, None);
        }
        check("/a/2", r#"{"a":[0,1]}"#, None);
    }

    #[test]
    fn what_names_no_field_is_refused() {
        let check = |map: &str, expect: &str| {
            let error = Fields::parse(&[map.to_owned()]).expect_err(map);
            assert_eq!(error.message(), expect);
        };
        let roles = "`prediction`, `ground_truth`, `trajectory`, `tool_calls`, `metadata`, `id`";
        for (map, role) in [
            ("truth=a", "truth"),
            ("a", "a"),
            ("", ""),
            ("prediction=a,=b", ""),
        ] {
            let pair = map.rsplit(',').next().unwrap_or_default();
            let expect = format!("`--map {pair}`: unknown role `{role}`, expected one of {roles}");
            check(map, &expect);
        }
        for pair in ["prediction=", "id", "metadata=a..b", "id=.a"] {
            check(pair, &format!("`--map {pair}` names no field"));
        }
        check("id=a,id=b", "`--map` names `id` twice");
    }
}
