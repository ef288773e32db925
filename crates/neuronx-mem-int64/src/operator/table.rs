//! The table: from a name to what is known of the operator. Built in, and extendable.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use super::source::{Class, Operator, Source};
use super::{Basis, DataPath, OperandShape, OperatorFacts, OperatorName};
use crate::{Int64Error, OperatorClass};

/// The table of this crate.
const TEXT: &str = include_str!("../../data/operators.toml");

static BUILT_IN: LazyLock<OperatorTable> = LazyLock::new(|| {
    let mut table = OperatorTable::empty();
    table.extend(TEXT).expect("the built-in table is well-formed: a test reads the same text");
    table
});

/// Operators by name, with overloads, in-place forms and `_foreach_` forms folded.
///
/// ```
/// use neuronx_mem_int64::{OperatorClass, OperatorTable};
///
/// let mut table = OperatorTable::built_in().clone();
/// let add = table.get("aten::add_.Tensor").map(|facts| facts.class);
/// assert_eq!(add, Some(OperatorClass::Elementwise));
///
/// // A build whose device sorts 64-bit integers, and an operator of one's own.
/// table.extend(
///     r#"
///     schema = 1
///     [[class]]
///     name = "sort"
///     device64 = true
///     basis = "documented"
///     source = "notes of our build"
///     operators = ["mylib::radix_sort"]
///     "#,
/// )?;
/// assert!(table.get("mylib::radix_sort").is_some_and(|facts| facts.device64));
/// # Ok::<(), neuronx_mem_int64::Int64Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OperatorTable {
    operators: BTreeMap<String, OperatorFacts>,
    /// What holds for a new operator of each class.
    classes: BTreeMap<OperatorClass, OperatorFacts>,
}

impl OperatorTable {
    /// Returns the table of this crate. The first call reads it; later ones cost nothing.
    #[must_use]
    pub fn built_in() -> &'static Self {
        &BUILT_IN
    }

    /// Returns a table without operators.
    #[must_use]
    pub const fn empty() -> Self {
        Self { operators: BTreeMap::new(), classes: BTreeMap::new() }
    }

    /// Looks an operator up under any of its spellings: O(log n).
    #[must_use]
    pub fn get(&self, operator: &str) -> Option<&OperatorFacts> {
        self.find(&OperatorName::fold(operator))
    }

    /// Looks a folded name up: O(log n).
    #[must_use]
    pub fn find(&self, name: &OperatorName) -> Option<&OperatorFacts> {
        name.candidates().find_map(|name| self.operators.get(name))
    }

    /// Returns every operator in alphabetical order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &OperatorFacts)> {
        self.operators.iter().map(|(name, facts)| (name.as_str(), facts))
    }

    /// Returns how many operators there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.operators.len()
    }

    /// Says whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.operators.is_empty()
    }

    /// Adds operators, and changes what holds for a class or for an operator, from TOML in the form
    /// of this crate's `data/operators.toml`. All or nothing.
    ///
    /// What is said of a class changes all its operators; an `[[operator]]` changes one that is in
    /// the table by then.
    ///
    /// # Errors
    ///
    /// [`Int64Error::Table`] when the text is no table, says too little about a new class, or names an
    /// operator that is not there.
    pub fn extend(&mut self, text: &str) -> Result<(), Int64Error> {
        let source = Source::parse(text)?;
        let mut next = self.clone();
        for class in &source.class {
            next.class(class)?;
        }
        for operator in &source.operator {
            let facts = next.named(&operator.name)?;
            apply(operator, facts);
        }
        for name in &source.refused.operators {
            let facts = next.named(name)?;
            facts.is_refused = true;
            if !source.refused.source.is_empty() {
                facts.source.clone_from(&source.refused.source);
            }
        }
        for name in &source.operand_shapes.as_result {
            next.named(name)?.operand_shape = OperandShape::AsResult;
        }
        for name in &source.operand_shapes.rows_of_result {
            next.named(name)?.operand_shape = OperandShape::RowsOfResult;
        }
        for (name, n_results) in &source.results {
            next.named(name)?.n_results = (*n_results).max(1);
        }
        *self = next;
        Ok(())
    }

    fn class(&mut self, class: &Class) -> Result<(), Int64Error> {
        let mut facts = match self.classes.get(&class.name) {
            Some(facts) => facts.clone(),
            None => new_class(class)?,
        };
        apply_class(class, &mut facts);
        for known in self.operators.values_mut().filter(|known| known.class == class.name) {
            apply_class(class, known);
        }
        for name in &class.operators {
            let name = OperatorName::fold(name).as_str().to_owned();
            if name.is_empty() {
                return Err(Int64Error::Table { reason: format!("class {}: an empty name", class.name) });
            }
            self.operators.insert(name, facts.clone());
        }
        self.classes.insert(class.name, facts);
        Ok(())
    }

    fn named(&mut self, name: &str) -> Result<&mut OperatorFacts, Int64Error> {
        let folded = OperatorName::fold(name);
        self.operators
            .get_mut(folded.as_str())
            .ok_or_else(|| Int64Error::Table { reason: format!("operator `{name}` is in no class") })
    }
}

/// What the text says of a class that is not there yet.
fn new_class(class: &Class) -> Result<OperatorFacts, Int64Error> {
    let lacks = |what: &str| Int64Error::Table { reason: format!("class {} lacks its {what}", class.name) };
    Ok(OperatorFacts {
        class: class.name,
        values: class.values.ok_or_else(|| lacks("values"))?,
        device64: class.device64.ok_or_else(|| lacks("device64"))?,
        basis: Basis::Assumed,
        data_path: DataPath::Integer,
        is_refused: false,
        is_always_int64: false,
        operand_shape: OperandShape::Unknown,
        n_results: 1,
        source: String::new(),
    })
}

fn apply_class(class: &Class, facts: &mut OperatorFacts) {
    set(&mut facts.values, class.values);
    set(&mut facts.device64, class.device64);
    set(&mut facts.basis, class.basis);
    set(&mut facts.data_path, class.data_path);
    set(&mut facts.is_always_int64, class.always_int64);
    set(&mut facts.source, class.source.clone());
}

fn apply(operator: &Operator, facts: &mut OperatorFacts) {
    set(&mut facts.values, operator.values);
    set(&mut facts.device64, operator.device64);
    set(&mut facts.basis, operator.basis);
    set(&mut facts.data_path, operator.data_path);
    set(&mut facts.is_refused, operator.refused);
    set(&mut facts.source, operator.source.clone());
}

fn set<T>(place: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *place = value;
    }
}
