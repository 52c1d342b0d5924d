//! One node while it is planned for.

use std::ops::{Deref, DerefMut};
use std::path::{Path, PathBuf};

use model::{Need, NodeName};
use server::options::Setting;
use server::{NodeView, TlsRules};

use crate::by_hand;
use crate::edit::{Edit, FileEdit, Form, redacted_diff};
use crate::files::{self, CA_FILE, CERT_FILE, CLIENT_CA_FILE, KEY_FILE};
use crate::needs;
use crate::plan::{PlanError, refuse};
use crate::tls_rules;
use crate::world::World;

const FILE_BYTES_MAX: u64 = formats::optfile::OPTION_FILE_BYTES_MAX as u64;

/// A member, with or without data, and its file as it will be after the steps so far.
pub struct MemberDraft {
    pub name: NodeName,
    pub address: String,
    pub file: PathBuf,
    pub form: Form,
    pub bytes: Vec<u8>,
    pub tls_dir: PathBuf,
    pub state_dir: PathBuf,
    /// Key, certificate and CA are there and fit.
    pub has_files: bool,
    /// None of the three is there.
    pub is_bare: bool,
    /// Subject alternative names, as openssl spells them.
    pub names: String,
    /// Who must read its key, where that can be told.
    pub owner: Option<(u32, u32)>,
    pub start: Vec<String>,
    pub stop: Vec<String>,
}

/// A node.
pub struct NodeDraft {
    member: MemberDraft,
    pub group: String,
    pub ssl_cert: String,
    pub ssl_ca: String,
    pub clients: ClientCas,
    /// Versions and suites that it takes from clients.
    pub rules: TlsRules,
    pub view: NodeView,
}

/// The CA of clients that it is to trust, and what it was told of one before.
pub struct ClientCas {
    /// PEM.
    pub wish: Option<String>,
    /// As [`files::client_ca`] has it.
    pub noted: Option<String>,
    /// What lies there follows from that.
    pub is_kept: bool,
}

impl ClientCas {
    /// For what a plan is made; nothing where clients have no CA.
    pub fn state(&self) -> String {
        let parts = [("wished", &self.wish), ("noted", &self.noted)];
        let of = |(word, pem): (&str, &Option<String>)| {
            pem.as_ref().map(|pem| format!("  clients' CA {word} {}\n", crate::edit::hash(pem.as_bytes())))
        };
        parts.into_iter().filter_map(of).collect()
    }
}

impl Deref for NodeDraft {
    type Target = MemberDraft;
    fn deref(&self) -> &MemberDraft {
        &self.member
    }
}

impl DerefMut for NodeDraft {
    fn deref_mut(&mut self) -> &mut MemberDraft {
        &mut self.member
    }
}

/// `ssl_cert` and `ssl_ca` of a server; empty is none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offer {
    pub cert: String,
    pub ca: String,
}

/// One change of the file, with what a step says of it.
pub struct PlannedEdit {
    pub edit: FileEdit,
    pub diff: Vec<String>,
    pub needs: Vec<Need>,
}

impl NodeDraft {
    /// The node as it is now, with the setting beside which the server's further options are written.
    ///
    /// # Errors
    /// It cannot be asked, or no option file has such a setting.
    pub fn of(world: &mut World<'_>, name: &NodeName) -> Result<(Self, Setting), PlanError> {
        let anchors = world.topology.anchors();
        let view = world.node(name).map_err(refuse)?.view().map_err(refuse)?;
        Self::beside(world, name, view, anchors)
    }

    /// The same of a node that answered with `view`, or, with an empty one, of a node that is down. The server's further options are
    /// written beside the first of `anchors` that its option files set.
    ///
    /// # Errors
    /// As [`Self::of`].
    pub fn beside(
        world: &mut World<'_>,
        name: &NodeName,
        view: NodeView,
        anchors: &[&str],
    ) -> Result<(Self, Setting), PlanError> {
        let node = world.node(name).map_err(refuse)?;
        let effective = node.effective().map_err(refuse)?;
        let setting = anchors
            .iter()
            .find_map(|option| effective.in_option_file(option))
            .ok_or_else(|| {
                refuse(format!(
                    "{}: no option file sets {}\n  why:  {} and what it includes were read\n  next: name the right \
                     defaults_file in the inventory",
                    node.name(),
                    anchors.join(" or "),
                    node.spec().defaults_file.display()
                ))
            })?
            .clone();
        let member = MemberDraft::of(world, name, &setting.file, Form::Options)?;
        let wish = trust::Clients::of(&world.authority.dir).ca_pem().map_err(refuse)?;
        let node = world.member(name).map_err(refuse)?;
        let noted = files::client_ca(node).map_err(refuse)?;
        let clients = ClientCas {
            wish,
            noted: noted.map(|pem| String::from_utf8_lossy(&pem).into_owned()),
            is_kept: files::client_cas_are_kept(node).map_err(refuse)?,
        };
        let draft = Self {
            member,
            group: setting.group.clone(),
            ssl_cert: view.variable("ssl_cert").unwrap_or("").to_owned(),
            ssl_ca: view.variable("ssl_ca").unwrap_or("").to_owned(),
            clients,
            rules: TlsRules::in_use(&view),
            view,
        };
        Ok((draft, setting))
    }

    /// A statement for its own client program.
    pub fn sql(&self, statement: &str) -> String {
        by_hand::sql(self.view.capabilities().flavour, statement)
    }

    pub fn set(&self, key: &str, value: String) -> Edit {
        Edit::Set { group: self.group.clone(), key: key.into(), value }
    }

    pub fn unset(&self, key: &str) -> Edit {
        Edit::Remove { group: self.group.clone(), key: key.into() }
    }

    /// The edits with which clients are offered the certificate of its own.
    pub fn offer_tls(&self) -> Vec<Edit> {
        [("ssl_ca", self.ca_of_clients()), ("ssl_cert", CERT_FILE), ("ssl_key", KEY_FILE)]
            .map(|(key, file)| self.set(key, self.path(file)))
            .to_vec()
    }

    /// Whether clients have, or had, a CA of their own there: the path stays, so that no later change of what it holds needs a restart.
    pub fn has_client_cas(&self) -> bool {
        self.clients.wish.is_some()
            || self.clients.noted.is_some()
            || self.ssl_ca == self.path(CLIENT_CA_FILE)
    }

    /// The file that `ssl_ca` is to name.
    pub fn ca_of_clients(&self) -> &'static str {
        if self.has_client_cas() { CLIENT_CA_FILE } else { CA_FILE }
    }

    /// What clients are shown, and judged by.
    pub fn offer(&self) -> Offer {
        Offer { cert: self.ssl_cert.clone(), ca: self.ssl_ca.clone() }
    }

    /// The edits with which they are offered none; the lines of a profile go too.
    pub fn offer_no_tls(&self) -> Vec<Edit> {
        let files = ["ssl_ca", "ssl_cert", "ssl_key"].map(|key| self.unset(key));
        [files.to_vec(), tls_rules::without_profile(self)].concat()
    }
}

impl MemberDraft {
    /// The member as it is now, with the file that its options stand in.
    ///
    /// # Errors
    /// The file cannot be read, or what lies in its TLS directory cannot be told.
    pub fn of(world: &mut World<'_>, name: &NodeName, file: &Path, form: Form) -> Result<Self, PlanError> {
        let has_files = files::lies(world, name).map_err(refuse)?.serial().is_some();
        let member = world.member(name).map_err(refuse)?;
        let bytes = member
            .host()
            .read(file, FILE_BYTES_MAX)
            .map_err(refuse)?
            .ok_or_else(|| refuse(format!("{} is gone", file.display())))?;
        let owner = member.owner();
        let spec = member.spec();
        let mut is_bare = true;
        for file in [KEY_FILE, CERT_FILE, CA_FILE] {
            is_bare &= member.host().facts(&spec.tls_dir.join(file)).map_err(refuse)?.is_none();
        }
        Ok(Self {
            name: spec.name.clone(),
            address: spec.address.clone(),
            file: file.to_owned(),
            form,
            bytes,
            tls_dir: spec.tls_dir.clone(),
            state_dir: spec.state_dir.clone(),
            has_files,
            is_bare,
            names: by_hand::alternative_names(spec),
            owner,
            start: spec.service.start_command(),
            stop: spec.service.stop_command(),
        })
    }

    pub fn path(&self, file: &str) -> String {
        self.tls_dir.join(file).display().to_string()
    }

    /// The change of its file as a part of the runbook, with what comes behind it.
    pub fn by_hand(&self, diff: &[String], then: Vec<String>) -> Vec<String> {
        by_hand::part(&self.name, &self.address, [by_hand::patch(&self.file, diff), then].concat())
    }

    /// Plans `edits` on the file as it will be by then.
    pub fn edit(&mut self, edits: Vec<Edit>) -> Result<PlannedEdit, PlanError> {
        let (edit, after) = FileEdit::plan_in(self.form, &self.file, &self.bytes, edits).map_err(refuse)?;
        let diff = redacted_diff(&self.file, &self.bytes, &after);
        let needs = if edit.is_no_op() {
            vec![]
        } else {
            needs::file_edit(&self.name, &self.file, &self.state_dir, &self.bytes, &after)
        };
        self.bytes = after;
        Ok(PlannedEdit { edit, diff: if diff.is_empty() { vec![] } else { vec![diff] }, needs })
    }

    /// Room for its key files in each of these directories.
    pub fn key_file_needs(&self, dirs: &[&Path]) -> Vec<Need> {
        dirs.iter().map(|dir| needs::key_files(Some(&self.name), dir)).collect()
    }
}
