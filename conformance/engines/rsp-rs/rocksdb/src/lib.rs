//! What oxigraph 0.5.13 names of RocksDB's C interface, without RocksDB: the types have no content, and no function returns.
//!
//! oxigraph calls them only for a store on disk. rsp-rs opens no such store.
#![allow(non_camel_case_types, non_upper_case_globals)]

use std::ffi::{c_char, c_int, c_uchar, c_uint, c_void};

macro_rules! types {
    ($($name:ident)*) => { $(#[repr(C)] pub struct $name { _content: [u8; 0] })* };
}

macro_rules! functions {
    ($($name:ident($($argument:ty),*) $(-> $result:ty)?;)*) => {
        $(
            #[allow(clippy::missing_safety_doc, clippy::too_many_arguments)]
            pub unsafe fn $name($(_: $argument),*) $(-> $result)? {
                unreachable!("RocksDB is not part of this build")
            }
        )*
    };
}

pub const rocksdb_lz4_compression: c_uint = 4;

#[repr(C)]
pub struct oxrocksdb_slice_t {
    pub data: *const c_char,
    pub size: usize,
}

#[repr(C)]
pub struct rocksdb_ingestexternalfilearg_t {
    pub column_family: *mut rocksdb_column_family_handle_t,
    pub external_files: *const *const c_char,
    pub external_files_len: usize,
    pub options: *mut rocksdb_ingestexternalfileoptions_t,
}

types! {
    oxrocksdb_pinnable_handle_t rocksdb_block_based_table_options_t rocksdb_checkpoint_t
    rocksdb_column_family_handle_t rocksdb_compactoptions_t rocksdb_env_t rocksdb_envoptions_t rocksdb_flushoptions_t
    rocksdb_ingestexternalfileoptions_t rocksdb_iterator_t rocksdb_options_t
    rocksdb_readoptions_t rocksdb_slicetransform_t rocksdb_snapshot_t rocksdb_sstfilewriter_t rocksdb_t
    rocksdb_writebatch_t rocksdb_writebatch_wi_t rocksdb_writeoptions_t
}

functions! {
    oxrocksdb_get_into_buffer_cf(*mut rocksdb_t, *const rocksdb_readoptions_t, *mut rocksdb_column_family_handle_t, *const c_char, usize, *mut c_char, usize, *mut usize, *mut c_uchar, *mut *mut c_char) -> c_uchar;
    oxrocksdb_get_pinned_cf_v2(*mut rocksdb_t, *const rocksdb_readoptions_t, *mut rocksdb_column_family_handle_t, *const c_char, usize, *mut *mut c_char) -> *mut oxrocksdb_pinnable_handle_t;
    oxrocksdb_ingest_external_files(*mut rocksdb_t, *const rocksdb_ingestexternalfilearg_t, usize, *mut *mut c_char);
    oxrocksdb_iter_key_slice(*const rocksdb_iterator_t) -> oxrocksdb_slice_t;
    oxrocksdb_pinnable_handle_destroy(*mut oxrocksdb_pinnable_handle_t);
    oxrocksdb_pinnable_handle_get_value(*const oxrocksdb_pinnable_handle_t, *mut usize) -> *const c_char;
    oxrocksdb_readoptions_create_copy(*mut rocksdb_readoptions_t) -> *mut rocksdb_readoptions_t;
    oxrocksdb_writebatch_wi_create_iterator_with_base_readopts_cf(*mut rocksdb_writebatch_wi_t, *mut rocksdb_iterator_t, *const rocksdb_readoptions_t, *mut rocksdb_column_family_handle_t) -> *mut rocksdb_iterator_t;
    oxrocksdb_writebatch_wi_get_into_buffer_cf(*mut rocksdb_writebatch_wi_t, *mut rocksdb_t, *const rocksdb_readoptions_t, *mut rocksdb_column_family_handle_t, *const c_char, usize, *mut c_char, usize, *mut usize, *mut c_uchar, *mut *mut c_char) -> c_uchar;
    oxrocksdb_writebatch_wi_get_pinned_cf_v2(*mut rocksdb_writebatch_wi_t, *mut rocksdb_t, *const rocksdb_readoptions_t, *mut rocksdb_column_family_handle_t, *const c_char, usize, *mut *mut c_char) -> *mut oxrocksdb_pinnable_handle_t;
    rocksdb_block_based_options_create() -> *mut rocksdb_block_based_table_options_t;
    rocksdb_block_based_options_destroy(*mut rocksdb_block_based_table_options_t);
    rocksdb_block_based_options_set_format_version(*mut rocksdb_block_based_table_options_t, c_int);
    rocksdb_block_based_options_set_index_block_restart_interval(*mut rocksdb_block_based_table_options_t, c_int);
    rocksdb_checkpoint_create(*mut rocksdb_checkpoint_t, *const c_char, u64, *mut *mut c_char);
    rocksdb_checkpoint_object_create(*mut rocksdb_t, *mut *mut c_char) -> *mut rocksdb_checkpoint_t;
    rocksdb_checkpoint_object_destroy(*mut rocksdb_checkpoint_t);
    rocksdb_close(*mut rocksdb_t);
    rocksdb_column_family_handle_destroy(*mut rocksdb_column_family_handle_t);
    rocksdb_compact_range_cf_opt(*mut rocksdb_t, *mut rocksdb_column_family_handle_t, *mut rocksdb_compactoptions_t, *const c_char, usize, *const c_char, usize);
    rocksdb_compactoptions_create() -> *mut rocksdb_compactoptions_t;
    rocksdb_compactoptions_destroy(*mut rocksdb_compactoptions_t);
    rocksdb_create_default_env() -> *mut rocksdb_env_t;
    rocksdb_create_iterator(*mut rocksdb_t, *const rocksdb_readoptions_t) -> *mut rocksdb_iterator_t;
    rocksdb_create_iterator_cf(*mut rocksdb_t, *const rocksdb_readoptions_t, *mut rocksdb_column_family_handle_t) -> *mut rocksdb_iterator_t;
    rocksdb_create_snapshot(*mut rocksdb_t) -> *const rocksdb_snapshot_t;
    rocksdb_envoptions_create() -> *mut rocksdb_envoptions_t;
    rocksdb_envoptions_destroy(*mut rocksdb_envoptions_t);
    rocksdb_flush_cfs(*mut rocksdb_t, *const rocksdb_flushoptions_t, *mut *mut rocksdb_column_family_handle_t, c_int, *mut *mut c_char);
    rocksdb_flushoptions_create() -> *mut rocksdb_flushoptions_t;
    rocksdb_flushoptions_destroy(*mut rocksdb_flushoptions_t);
    rocksdb_free(*mut c_void);
    rocksdb_ingestexternalfileoptions_create() -> *mut rocksdb_ingestexternalfileoptions_t;
    rocksdb_ingestexternalfileoptions_destroy(*mut rocksdb_ingestexternalfileoptions_t);
    rocksdb_iter_destroy(*mut rocksdb_iterator_t);
    rocksdb_iter_get_error(*const rocksdb_iterator_t, *mut *mut c_char);
    rocksdb_iter_next(*mut rocksdb_iterator_t);
    rocksdb_iter_seek(*mut rocksdb_iterator_t, *const c_char, usize);
    rocksdb_iter_seek_to_first(*mut rocksdb_iterator_t);
    rocksdb_iter_valid(*const rocksdb_iterator_t) -> c_uchar;
    rocksdb_open_column_families(*const rocksdb_options_t, *const c_char, c_int, *const *const c_char, *const *const rocksdb_options_t, *mut *mut rocksdb_column_family_handle_t, *mut *mut c_char) -> *mut rocksdb_t;
    rocksdb_open_for_read_only_column_families(*const rocksdb_options_t, *const c_char, c_int, *const *const c_char, *const *const rocksdb_options_t, *mut *mut rocksdb_column_family_handle_t, c_uchar, *mut *mut c_char) -> *mut rocksdb_t;
    rocksdb_options_create() -> *mut rocksdb_options_t;
    rocksdb_options_create_copy(*mut rocksdb_options_t) -> *mut rocksdb_options_t;
    rocksdb_options_destroy(*mut rocksdb_options_t);
    rocksdb_options_enable_statistics(*mut rocksdb_options_t);
    rocksdb_options_increase_parallelism(*mut rocksdb_options_t, c_int);
    rocksdb_options_optimize_for_point_lookup(*mut rocksdb_options_t, u64);
    rocksdb_options_optimize_level_style_compaction(*mut rocksdb_options_t, u64);
    rocksdb_options_set_block_based_table_factory(*mut rocksdb_options_t, *mut rocksdb_block_based_table_options_t);
    rocksdb_options_set_compression(*mut rocksdb_options_t, c_int);
    rocksdb_options_set_create_if_missing(*mut rocksdb_options_t, c_uchar);
    rocksdb_options_set_create_missing_column_families(*mut rocksdb_options_t, c_uchar);
    rocksdb_options_set_env(*mut rocksdb_options_t, *mut rocksdb_env_t);
    rocksdb_options_set_info_log_level(*mut rocksdb_options_t, c_int);
    rocksdb_options_set_max_log_file_size(*mut rocksdb_options_t, usize);
    rocksdb_options_set_max_open_files(*mut rocksdb_options_t, c_int);
    rocksdb_options_set_prefix_extractor(*mut rocksdb_options_t, *mut rocksdb_slicetransform_t);
    rocksdb_options_set_recycle_log_file_num(*mut rocksdb_options_t, usize);
    rocksdb_options_set_stats_dump_period_sec(*mut rocksdb_options_t, c_uint);
    rocksdb_options_set_unordered_write(*mut rocksdb_options_t, c_uchar);
    rocksdb_put_cf(*mut rocksdb_t, *const rocksdb_writeoptions_t, *mut rocksdb_column_family_handle_t, *const c_char, usize, *const c_char, usize, *mut *mut c_char);
    rocksdb_readoptions_create() -> *mut rocksdb_readoptions_t;
    rocksdb_readoptions_destroy(*mut rocksdb_readoptions_t);
    rocksdb_readoptions_set_async_io(*mut rocksdb_readoptions_t, c_uchar);
    rocksdb_readoptions_set_iterate_upper_bound(*mut rocksdb_readoptions_t, *const c_char, usize);
    rocksdb_readoptions_set_snapshot(*mut rocksdb_readoptions_t, *const rocksdb_snapshot_t);
    rocksdb_release_snapshot(*mut rocksdb_t, *const rocksdb_snapshot_t);
    rocksdb_slicetransform_create_fixed_prefix(usize) -> *mut rocksdb_slicetransform_t;
    rocksdb_sstfilewriter_create(*const rocksdb_envoptions_t, *const rocksdb_options_t) -> *mut rocksdb_sstfilewriter_t;
    rocksdb_sstfilewriter_destroy(*mut rocksdb_sstfilewriter_t);
    rocksdb_sstfilewriter_finish(*mut rocksdb_sstfilewriter_t, *mut *mut c_char);
    rocksdb_sstfilewriter_open(*mut rocksdb_sstfilewriter_t, *const c_char, *mut *mut c_char);
    rocksdb_sstfilewriter_put(*mut rocksdb_sstfilewriter_t, *const c_char, usize, *const c_char, usize, *mut *mut c_char);
    rocksdb_write(*mut rocksdb_t, *const rocksdb_writeoptions_t, *mut rocksdb_writebatch_t, *mut *mut c_char);
    rocksdb_write_writebatch_wi(*mut rocksdb_t, *const rocksdb_writeoptions_t, *mut rocksdb_writebatch_wi_t, *mut *mut c_char);
    rocksdb_writebatch_create() -> *mut rocksdb_writebatch_t;
    rocksdb_writebatch_delete_cf(*mut rocksdb_writebatch_t, *mut rocksdb_column_family_handle_t, *const c_char, usize);
    rocksdb_writebatch_delete_range_cf(*mut rocksdb_writebatch_t, *mut rocksdb_column_family_handle_t, *const c_char, usize, *const c_char, usize);
    rocksdb_writebatch_destroy(*mut rocksdb_writebatch_t);
    rocksdb_writebatch_put_cf(*mut rocksdb_writebatch_t, *mut rocksdb_column_family_handle_t, *const c_char, usize, *const c_char, usize);
    rocksdb_writebatch_wi_create(usize, c_uchar) -> *mut rocksdb_writebatch_wi_t;
    rocksdb_writebatch_wi_delete_cf(*mut rocksdb_writebatch_wi_t, *mut rocksdb_column_family_handle_t, *const c_char, usize);
    rocksdb_writebatch_wi_destroy(*mut rocksdb_writebatch_wi_t);
    rocksdb_writebatch_wi_put_cf(*mut rocksdb_writebatch_wi_t, *mut rocksdb_column_family_handle_t, *const c_char, usize, *const c_char, usize);
    rocksdb_writeoptions_create() -> *mut rocksdb_writeoptions_t;
    rocksdb_writeoptions_destroy(*mut rocksdb_writeoptions_t);
}
