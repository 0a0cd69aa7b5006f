/*
 * The kernel's structs and constants that the eBPF program needs. The offsets of the members are
 * determined when the program is loaded (CO-RE, BTF).
 */
#ifndef UTRAIL_CMDS_RECORD_PROC_BPF_KERNEL_H
#define UTRAIL_CMDS_RECORD_PROC_BPF_KERNEL_H

#include <stdbool.h>
#include <stdint.h>

#include "arch/x86_64/bpf_calls.h"

#define OF_KERNEL __attribute__((preserve_access_index))

struct qstr {
	uint32_t len;
	const char *name;
} OF_KERNEL;

struct hlist_bl_node {
	struct hlist_bl_node **pprev;
} OF_KERNEL;

struct dentry_operations {
	char *(*d_dname)(void *, char *, int);
} OF_KERNEL;

struct super_block {
	unsigned long s_magic;
} OF_KERNEL;

struct inode {
	unsigned long i_ino;
	void *i_private;
} OF_KERNEL;

struct dentry {
	struct hlist_bl_node d_hash;
	struct dentry *d_parent;
	struct qstr d_name;
	struct inode *d_inode;
	const struct dentry_operations *d_op;
	struct super_block *d_sb;
} OF_KERNEL;

struct vfsmount {
	struct dentry *mnt_root;
} OF_KERNEL;

struct mount {
	struct mount *mnt_parent;
	struct dentry *mnt_mountpoint;
	struct vfsmount mnt;
} OF_KERNEL;

struct path {
	struct vfsmount *mnt;
	struct dentry *dentry;
} OF_KERNEL;

struct file {
	unsigned int f_mode;
	struct path f_path;
} OF_KERNEL;

struct fdtable {
	unsigned int max_fds;
	struct file **fd;
	unsigned long *open_fds;
} OF_KERNEL;

struct files_struct {
	struct fdtable *fdt;
} OF_KERNEL;

struct fs_struct {
	struct path root;
	struct path pwd;
} OF_KERNEL;

struct proc_ns_operations {
	const char *name;
} OF_KERNEL;

struct ns_common {
	const struct proc_ns_operations *ops;
	unsigned int inum;
} OF_KERNEL;

struct mnt_namespace {
	struct ns_common ns;
} OF_KERNEL;

struct nsproxy {
	struct mnt_namespace *mnt_ns;
} OF_KERNEL;

struct upid {
	int nr;
} OF_KERNEL;

struct pid {
	unsigned int level;
	struct upid numbers[1];
} OF_KERNEL;

typedef struct {
	int counter;
} OF_KERNEL atomic_t;

struct signal_struct {
	atomic_t live;
	int group_exit_code;
	unsigned int flags;
} OF_KERNEL;

struct mm_struct {
	unsigned long arg_start;
	unsigned long arg_end;
	unsigned long env_start;
	unsigned long env_end;
	struct file *exe_file;
} OF_KERNEL;

struct linux_binprm {
	const char *filename;
	const char *interp;
} OF_KERNEL;

struct task_struct {
	struct thread_info thread_info;
	int exit_code;
	int pid;
	int tgid;
	struct pid *thread_pid;
	char comm[16];
	struct mm_struct *mm;
	struct fs_struct *fs;
	struct files_struct *files;
	struct nsproxy *nsproxy;
	struct signal_struct *signal;
} OF_KERNEL;

/*
 * WIRE_BY_FORK, WIRE_BY_VFORK and WIRE_BY_CLONE tell how a task was made. The values equal
 * PROC_BY_FORK, PROC_BY_VFORK and PROC_BY_CLONE of enum proc_fork_how. eBPF programs cannot include
 * the header of that enum. FORK_SIGNAL and FORK_WAITS are bits in the flags of clone(2).
 */
#define WIRE_BY_FORK  1
#define WIRE_BY_VFORK 2
#define WIRE_BY_CLONE 3
#define FORK_SIGNAL   17U	  /* SIGCHLD */
#define FORK_WAITS    0x00004000U /* CLONE_VFORK */

#define GROUP_EXIT 4U /* signal_struct.flags: SIGNAL_GROUP_EXIT */

#define MODE_READ  1U /* FMODE_READ of file.f_mode */
#define MODE_WRITE 2U /* FMODE_WRITE of file.f_mode */

#define CWD_FD (-100) /* AT_FDCWD */

/* values of super_block.s_magic (statfs(2), linux/magic.h) */
#define PIPEFS_MAGIC	   0x50495045U
#define SOCKFS_MAGIC	   0x534f434bU
#define NSFS_MAGIC	   0x6e736673U
#define PIDFS_MAGIC	   0x50494446U
#define ANON_INODEFS_MAGIC 0x09041934U

#endif
