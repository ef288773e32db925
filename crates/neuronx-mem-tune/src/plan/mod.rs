//! Where every tensor of a trace could lie if all were known in advance: how good any allocator could
//! be, and a layout that comes close.

mod bound;
mod layout;
mod online;
mod pack;
mod place;
mod tensors;

pub(crate) use tensors::{GRANULE_BYTES, Tensor, tensors_of};

pub use layout::{PlacedTensor, Plan};
pub use online::{Deviation, FollowedPlan, follow};
pub use pack::{PlanOptions, plan};
