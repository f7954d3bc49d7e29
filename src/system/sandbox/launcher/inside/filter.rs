//! The system call filter: rejects calls that could leave the sandbox, read the memory of others, or use kernel
//! features with frequent vulnerabilities. They fail as on a kernel without them, which programs can handle.
//!
//! Programs for another architecture, such as 32-bit ones, are killed, because their call numbers differ.

use std::collections::BTreeMap;

use libc::c_long;
use seccompiler::SeccompCmpArgLen::Dword;
use seccompiler::SeccompCmpOp::{Eq, MaskedEq, Ne};
use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompCondition, SeccompFilter, SeccompRule,
    TargetArch,
};

/// The allowed kinds of sockets.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Sockets {
    /// Those that a network namespace confines.
    Separated,
    /// Internet sockets.
    Network,
    /// TCP only, limited to some ports by Landlock.
    Tcp,
    /// None.
    None,
}

type CallRules = BTreeMap<i64, Vec<SeccompRule>>;

// Calls newer than the libc crate; their numbers are the same on all architectures.
const QUOTACTL_FD: c_long = 443;
const PROCESS_MRELEASE: c_long = 448;
const FCHMODAT2: c_long = 452;
const SETXATTRAT: c_long = 463;
const REMOVEXATTRAT: c_long = 466;
const OPEN_TREE_ATTR: c_long = 467;
const FILE_SETATTR: c_long = 469;
/// Requests that inject input into a terminal.
const TIOCSTI: u64 = 0x5412;
const TIOCLINUX: u64 = 0x541c;

/// Always rejected.
const FORBIDDEN: &[c_long] = &[
    // Other processes.
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_process_madvise,
    PROCESS_MRELEASE,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    libc::SYS_move_pages,
    libc::SYS_migrate_pages,
    // File systems and namespaces.
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    libc::SYS_open_by_handle_at,
    libc::SYS_quotactl,
    QUOTACTL_FD,
    libc::SYS_setns,
    libc::SYS_unshare,
    // Its flags are in memory, which a filter cannot read. All libraries fall back to `clone`.
    libc::SYS_clone3,
    // Keys are not confined by namespaces.
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_request_key,
    // Frequent kernel vulnerabilities.
    libc::SYS_bpf,
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_userfaultfd,
    libc::SYS_perf_event_open,
    libc::SYS_fanotify_init,
    // The machine.
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_kexec_load,
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_acct,
    libc::SYS_syslog,
    libc::SYS_vhangup,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_clock_adjtime,
    libc::SYS_adjtimex,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    OPEN_TREE_ATTR,
];

/// Rejected without a namespace that would confine them.
const SHARED: &[c_long] = &[
    libc::SYS_shmget,
    libc::SYS_shmat,
    libc::SYS_shmctl,
    libc::SYS_msgget,
    libc::SYS_msgsnd,
    libc::SYS_msgrcv,
    libc::SYS_msgctl,
    libc::SYS_semget,
    libc::SYS_semop,
    libc::SYS_semtimedop,
    libc::SYS_semctl,
    libc::SYS_mq_open,
    libc::SYS_mq_unlink,
    FILE_SETATTR,
];

/// Changes of owners and permissions, which Landlock does not restrict. They do nothing and report success, as on file
/// systems without owners; otherwise copying and unpacking would fail.
const OWNERS: &[c_long] = &[
    #[cfg(target_arch = "x86_64")]
    libc::SYS_chmod,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_chown,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_lchown,
    libc::SYS_fchmod,
    libc::SYS_fchmodat,
    libc::SYS_fchown,
    libc::SYS_fchownat,
    FCHMODAT2,
];

/// Other changes of files that are only readable.
const ATTRIBUTES: &[c_long] = &[
    libc::SYS_setxattr,
    libc::SYS_lsetxattr,
    libc::SYS_fsetxattr,
    libc::SYS_removexattr,
    libc::SYS_lremovexattr,
    libc::SYS_fremovexattr,
    SETXATTRAT,
    REMOVEXATTRAT,
];

/// The filters for bubblewrap, in its input format.
pub(super) fn of_bwrap() -> Result<Vec<Vec<u8>>, String> {
    let filters = common(Sockets::Separated)?;
    let bytes = |filter: &BpfProgram| {
        let instructions = filter.iter().flat_map(|one| {
            let code = one.code.to_ne_bytes().into_iter();
            code.chain([one.jt, one.jf]).chain(one.k.to_ne_bytes())
        });
        instructions.collect()
    };
    Ok(filters.iter().map(bytes).collect())
}

/// The filters for Landlock.
pub(super) fn of_landlock(sockets: Sockets) -> Result<Vec<BpfProgram>, String> {
    let mut filters = common(sockets)?;
    filters.push(filter(unconditional(SHARED), libc::ENOSYS)?);
    filters.push(filter(unconditional(OWNERS), 0)?);
    filters.push(filter(unconditional(ATTRIBUTES), libc::EOPNOTSUPP)?);
    // Limits of another process.
    let mut others = CallRules::new();
    forbid(&mut others, libc::SYS_prlimit64, vec![rule(&[(0, Ne, 0)])?]);
    if sockets == Sockets::Tcp {
        // Sends data while connecting, bypassing the check of `connect`.
        let flag = u64::from(libc::MSG_FASTOPEN.unsigned_abs());
        for (call, argument) in [
            (libc::SYS_sendto, 3),
            (libc::SYS_sendmsg, 2),
            (libc::SYS_sendmmsg, 3),
        ] {
            forbid(
                &mut others,
                call,
                vec![rule(&[(argument, MaskedEq(flag), flag)])?],
            );
        }
    }
    filters.push(filter(others, libc::EPERM)?);
    Ok(filters)
}

/// Applies filters to this process.
pub(super) fn apply(filters: &[BpfProgram]) -> Result<(), String> {
    let mut filters = filters.iter();
    filters
        .try_for_each(|filter| seccompiler::apply_filter(filter))
        .map_err(|error| format!("no filter of system calls: {error}"))
}

fn common(sockets: Sockets) -> Result<Vec<BpfProgram>, String> {
    let mut rules = unconditional(FORBIDDEN);
    let flag = u64::from(libc::CLONE_NEWUSER.unsigned_abs());
    forbid(
        &mut rules,
        libc::SYS_clone,
        vec![rule(&[(0, MaskedEq(flag), flag)])?],
    );
    // Injecting input into the user's terminal.
    let mut terminal = CallRules::new();
    let typing = [TIOCSTI, TIOCLINUX].map(|request| rule(&[(1, Eq, request)]));
    let typing = typing.into_iter().collect::<Result<_, _>>()?;
    forbid(&mut terminal, libc::SYS_ioctl, typing);
    let mut families = CallRules::new();
    forbid(&mut families, libc::SYS_socket, refused(sockets)?);
    Ok(vec![
        filter(rules, libc::ENOSYS)?,
        filter(terminal, libc::EPERM)?,
        filter(families, libc::EAFNOSUPPORT)?,
    ])
}

/// Rules for rejected sockets; an empty list rejects all.
fn refused(sockets: Sockets) -> Result<Vec<SeccompRule>, String> {
    let families: &[i32] = match sockets {
        Sockets::Separated => &[
            libc::AF_UNIX,
            libc::AF_INET,
            libc::AF_INET6,
            libc::AF_NETLINK,
        ],
        // Not Unix sockets: Landlock does not restrict connecting to `docker.sock`.
        Sockets::Network => &[libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK],
        Sockets::Tcp => &[libc::AF_INET, libc::AF_INET6],
        Sockets::None => return Ok(Vec::new()),
    };
    let others: Vec<_> = families
        .iter()
        .map(|family| (0, Ne, u64::from(family.unsigned_abs())))
        .collect();
    let mut rules = vec![rule(&others)?];
    if sockets == Sockets::Tcp {
        let kind = u64::from(libc::SOCK_STREAM.unsigned_abs());
        for flags in [1, 2, 3, 5, 6, 10]
            .into_iter()
            .filter(|other| *other != kind)
        {
            rules.push(rule(&[(1, MaskedEq(0xf), flags)])?);
        }
        // Other stream protocols are unknown to Landlock.
        let tcp = u64::from(libc::IPPROTO_TCP.unsigned_abs());
        rules.push(rule(&[(2, Ne, 0), (2, Ne, tcp)])?);
    }
    Ok(rules)
}

fn unconditional(calls: &[c_long]) -> CallRules {
    let mut rules = CallRules::new();
    for call in calls {
        forbid(&mut rules, *call, Vec::new());
    }
    rules
}

/// Rejects a call under all of its numbers.
fn forbid(rules: &mut CallRules, call: c_long, when: Vec<SeccompRule>) {
    // The x32 ABI, which some kernels support, has its own numbers.
    #[cfg(target_arch = "x86_64")]
    {
        const SHORT: i64 = 0x4000_0000;
        let own = match call {
            libc::SYS_ptrace => Some(521),
            libc::SYS_kexec_load => Some(528),
            libc::SYS_move_pages => Some(533),
            libc::SYS_ioctl => Some(514),
            libc::SYS_sendmsg => Some(518),
            libc::SYS_sendmmsg => Some(538),
            libc::SYS_process_vm_readv => Some(539),
            libc::SYS_process_vm_writev => Some(540),
            _ => None,
        };
        rules.insert(SHORT | own.unwrap_or(call), when.clone());
    }
    rules.insert(call, when);
}

/// A rule that matches if all conditions hold.
fn rule(conditions: &[(u8, seccompiler::SeccompCmpOp, u64)]) -> Result<SeccompRule, String> {
    let conditions = conditions.iter().map(|(argument, operator, value)| {
        SeccompCondition::new(*argument, Dword, operator.clone(), *value)
    });
    let conditions: Result<Vec<_>, BackendError> = conditions.collect();
    conditions
        .and_then(SeccompRule::new)
        .map_err(|error| error.to_string())
}

fn filter(rules: CallRules, number: i32) -> Result<BpfProgram, String> {
    let no = |error: BackendError| format!("no filter of system calls for this processor: {error}");
    let machine = TargetArch::try_from(std::env::consts::ARCH).map_err(no)?;
    let failure = SeccompAction::Errno(number.unsigned_abs());
    SeccompFilter::new(rules, SeccompAction::Allow, failure, machine)
        .and_then(BpfProgram::try_from)
        .map_err(no)
}
