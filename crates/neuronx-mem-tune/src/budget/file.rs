//! The budget file: limits and tolerances in TOML. Reads it, and writes measured values back without
//! losing comments.

use toml_edit::{DocumentMut, Item, Table, Value, value};

use super::{Figure, Measured, Scope};

/// Tolerance where the file names none, percent.
const DEFAULT_TOLERANCE_PERCENT: f64 = 0.0;

/// What is wrong with a budget file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BudgetFault {
    /// It is not TOML.
    #[error("{reason}")]
    NotToml {
        /// The first line of the parser's message.
        reason: String,
    },
    /// A key has no meaning.
    #[error("unknown key `{key}`: expected {expected}")]
    UnknownKey {
        /// The key with its table.
        key: String,
        /// What could stand there.
        expected: &'static str,
    },
    /// A value stands where limits should.
    #[error("`{key}` must be a table of limits")]
    NotATable {
        /// The key with its table.
        key: String,
    },
    /// A value is no limit.
    #[error("`{key}` must be a number, or a size such as \"9.5GiB\", or {{ limit, tolerance_percent }}")]
    NotALimit {
        /// The key with its table.
        key: String,
    },
    /// A tolerance is negative or no finite number.
    #[error("`{key}` must be a number from 0, percent")]
    NotATolerance {
        /// The key with its table.
        key: String,
    },
    /// There is no limit at all.
    #[error("no limits: nothing to check")]
    Empty,
}

/// One limit.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Limit {
    /// Of what part of the run.
    pub scope: Scope,
    /// Of what.
    pub figure: Figure,
    /// The value in the file.
    pub limit: f64,
    /// By how much it may be exceeded, percent of it.
    pub tolerance_percent: f64,
}

/// A budget file in memory.
#[derive(Clone, Debug)]
pub struct Budget {
    document: DocumentMut,
    limits: Vec<Limit>,
}

const FIGURES: &str = "peak, reserved, fragmentation_index, allocations_per_step or growth_per_step";

impl Budget {
    /// Reads a budget; `size` reads a text with a unit.
    ///
    /// ```
    /// use neuronx_mem_tune::Budget;
    ///
    /// let text = "tolerance_percent = 2\n[budget]\npeak = 1000\n[mark.\"step 1\"]\nreserved = 2000\n";
    /// let budget = Budget::parse(text, |_| None)?;
    /// assert_eq!(budget.limits().len(), 2);
    /// assert_eq!(budget.limits()[0].tolerance_percent, 2.0);
    /// # Ok::<(), neuronx_mem_tune::BudgetFault>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`BudgetFault`], with the key.
    pub fn parse(text: &str, size: impl Fn(&str) -> Option<u64>) -> Result<Self, BudgetFault> {
        let document: DocumentMut = text.parse().map_err(|error: toml_edit::TomlError| {
            let reason = error.message().lines().next().unwrap_or("not TOML").to_owned();
            BudgetFault::NotToml { reason }
        })?;
        let mut tolerance = DEFAULT_TOLERANCE_PERCENT;
        let mut limits = Vec::new();
        for (key, item) in document.iter() {
            match key {
                "schema" => {}
                "tolerance_percent" => {
                    tolerance = tolerance_of(item, key)?;
                }
                "budget" => read_table(&mut limits, item, &Scope::Whole, key, &size)?,
                "mark" => {
                    let marks = item.as_table_like();
                    let marks = marks.ok_or_else(|| BudgetFault::NotATable { key: key.to_owned() })?;
                    for (label, item) in marks.iter() {
                        let scope = Scope::Mark(label.to_owned());
                        read_table(&mut limits, item, &scope, &format!("mark.\"{label}\""), &size)?;
                    }
                }
                _ => {
                    let expected = "tolerance_percent, [budget] or [mark.\"LABEL\"]";
                    return Err(BudgetFault::UnknownKey { key: key.to_owned(), expected });
                }
            }
        }
        if limits.is_empty() {
            return Err(BudgetFault::Empty);
        }
        for limit in limits.iter_mut().filter(|limit| limit.tolerance_percent.is_nan()) {
            limit.tolerance_percent = tolerance;
        }
        Ok(Self { document, limits })
    }

    /// The limits, in the order of the file.
    #[must_use]
    pub fn limits(&self) -> &[Limit] {
        &self.limits
    }

    /// A new baseline: the whole run's figures as limits.
    #[must_use]
    pub fn baseline(measured: &Measured) -> String {
        let mut document = DocumentMut::new();
        document["tolerance_percent"] = value(2);
        let mut table = Table::new();
        for figure in Figure::ALL {
            if let Some(found) = measured.value(&Scope::Whole, figure) {
                table[figure.name()] = Item::Value(written(figure, found));
            }
        }
        document["budget"] = Item::Table(table);
        document.to_string()
    }

    /// The file with every limit replaced by what was measured; comments and tolerances stay.
    #[must_use]
    pub fn updated(&self, measured: &Measured) -> String {
        let mut document = self.document.clone();
        for Limit { scope, figure, .. } in &self.limits {
            let Some(found) = measured.value(scope, *figure) else { continue };
            let table = match scope {
                Scope::Whole => document.get_mut("budget"),
                Scope::Mark(label) => {
                    document.get_mut("mark").and_then(|marks| marks.get_mut(label.as_str()))
                }
            };
            let Some(item) = table.and_then(|table| table.get_mut(figure.name())) else { continue };
            let new = written(*figure, found);
            match item.get_mut("limit") {
                Some(limit) => *limit = Item::Value(new),
                None => {
                    let decor = item.as_value().map(|old| old.decor().clone());
                    let mut new = new;
                    if let Some(decor) = decor {
                        *new.decor_mut() = decor;
                    }
                    *item = Item::Value(new);
                }
            }
        }
        document.to_string()
    }
}

/// `NaN` stands for the file's own tolerance, which may come later in it.
fn read_table(
    limits: &mut Vec<Limit>,
    item: &Item,
    scope: &Scope,
    name: &str,
    size: &impl Fn(&str) -> Option<u64>,
) -> Result<(), BudgetFault> {
    let not_a_limit = |key: String| BudgetFault::NotALimit { key };
    let table = item.as_table_like().ok_or_else(|| BudgetFault::NotATable { key: name.to_owned() })?;
    for (key, item) in table.iter() {
        let full = format!("{name}.{key}");
        let figure = Figure::ALL.into_iter().find(|figure| figure.name() == key);
        let figure =
            figure.ok_or_else(|| BudgetFault::UnknownKey { key: full.clone(), expected: FIGURES })?;
        let (limit, tolerance) = match item.as_table_like() {
            None => (Some(item), None),
            Some(table) => {
                let is_known = |key: &str| ["limit", "tolerance_percent"].contains(&key);
                if let Some((key, _)) = table.iter().find(|(key, _)| !is_known(key)) {
                    let expected = "limit or tolerance_percent";
                    return Err(BudgetFault::UnknownKey { key: format!("{full}.{key}"), expected });
                }
                (table.get("limit"), table.get("tolerance_percent"))
            }
        };
        let read = |item: &Item| {
            let text = item.as_str().and_then(size).map(|bytes| bytes as f64);
            number(item).or(text).filter(|number| number.is_finite())
        };
        let limit = limit.and_then(read).ok_or_else(|| not_a_limit(full.clone()))?;
        let tolerance_percent = match tolerance {
            None => f64::NAN,
            Some(item) => tolerance_of(item, &format!("{full}.tolerance_percent"))?,
        };
        limits.push(Limit { scope: scope.clone(), figure, limit, tolerance_percent });
    }
    Ok(())
}

fn tolerance_of(item: &Item, key: &str) -> Result<f64, BudgetFault> {
    let percent = number(item).filter(|percent| percent.is_finite() && *percent >= 0.0);
    percent.ok_or_else(|| BudgetFault::NotATolerance { key: key.to_owned() })
}

fn number(item: &Item) -> Option<f64> {
    item.as_float().or(item.as_integer().map(|whole| whole as f64))
}

fn written(figure: Figure, found: f64) -> Value {
    match figure {
        Figure::FragmentationIndex => Value::from((found * 1e6).ceil() / 1e6),
        // Bytes and counts are whole numbers far below 2^53.
        #[expect(clippy::cast_possible_truncation, reason = "a whole number far below 2^53")]
        _ => Value::from(found as i64),
    }
}
