//! `report`
