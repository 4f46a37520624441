//! A writer's schema as a list of types that refer to each other by number (`files/avro_plan.py`).

use std::sync::Arc;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::names::RecordNames;

/// The number of a type in its `Plan`.
pub type TypeNumber = usize;

pub enum Type {
    Null,
    Boolean,
    /// `int` and `long`, which have the same encoding.
    Int,
    Float,
    Double,
    Bytes,
    Text,
    Fixed(usize),
    Enum(Vec<String>),
    Array(TypeNumber),
    Map(TypeNumber),
    Union(Vec<TypeNumber>),
    Record(Vec<Field>),
}

/// A field of a record.
pub struct Field {
    pub name: String,
    /// Its type.
    pub of: TypeNumber,
    /// The number of its name in the names of records.
    pub call_name: Option<usize>,
    /// The number of its name in the names of results.
    pub result_name: Option<usize>,
}

/// The plan for reading the records of a file.
pub struct Plan {
    types: Vec<Type>,
    top: TypeNumber,
    /// A stored timestamp times `factor` / `divisor` is in milliseconds, rounded down.
    pub factor: i64,
    pub divisor: i64,
    /// Records with more results are odd (see `avro.rs`).
    pub most_results: usize,
    pub names: Arc<RecordNames>,
}

impl Plan {
    /// Make the plan from its description in Python.
    ///
    /// Fails if a type number is out of range, or if the top type is not a record.
    pub fn new(
        described: &Bound<PyAny>,
        top: usize,
        scale: (i64, i64),
        most_results: usize,
        names: Arc<RecordNames>,
    ) -> PyResult<Self> {
        let mut types = Vec::new();
        for one in described.try_iter()? {
            types.push(read_type(one?.cast::<PyTuple>()?, &names)?);
        }
        let (factor, divisor) = scale;
        let plan = Plan { types, top, factor, divisor, most_results, names };
        let in_range = plan.types.iter().all(|one| {
            let mut parts: Box<dyn Iterator<Item = usize>> = match one {
                Type::Array(of) | Type::Map(of) => Box::new(std::iter::once(*of)),
                Type::Union(of) => Box::new(of.iter().copied()),
                Type::Record(fields) => Box::new(fields.iter().map(|field| field.of)),
                _ => Box::new(std::iter::empty()),
            };
            parts.all(|of| of < plan.types.len())
        });
        let is_record = matches!(plan.types.get(top), Some(Type::Record(_)));
        if !in_range || !is_record || divisor < 1 {
            return Err(PyValueError::new_err("not the plan of a schema"));
        }
        Ok(plan)
    }

    pub fn type_of(&self, number: TypeNumber) -> &Type {
        &self.types[number]
    }

    /// The fields of the trace records.
    pub fn top_fields(&self) -> &[Field] {
        match self.type_of(self.top) {
            Type::Record(fields) => fields,
            _ => &[],
        }
    }
}

fn read_type(described: &Bound<PyTuple>, names: &RecordNames) -> PyResult<Type> {
    let kind: String = described.get_item(0)?.extract()?;
    let detail = || described.get_item(1);
    Ok(match kind.as_str() {
        "null" => Type::Null,
        "boolean" => Type::Boolean,
        "int" | "long" => Type::Int,
        "float" => Type::Float,
        "double" => Type::Double,
        "bytes" => Type::Bytes,
        "string" => Type::Text,
        "fixed" => Type::Fixed(detail()?.extract()?),
        "enum" => Type::Enum(detail()?.extract()?),
        "array" => Type::Array(detail()?.extract()?),
        "map" => Type::Map(detail()?.extract()?),
        "union" => Type::Union(detail()?.extract()?),
        "record" => {
            let fields: Vec<(String, usize)> = detail()?.extract()?;
            let field = |(name, of): (String, usize)| Field {
                call_name: names.call.number(&name),
                result_name: names.result.number(&name),
                name,
                of,
            };
            Type::Record(fields.into_iter().map(field).collect())
        }
        _ => return Err(PyValueError::new_err(format!("not an Avro type: {kind}"))),
    })
}
