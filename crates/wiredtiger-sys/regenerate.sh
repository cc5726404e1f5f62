#!/usr/bin/env bash
# Writes src/bindings.rs again from the header that scripts/wiredtiger.sh installs. Needs bindgen 0.73 (`cargo install bindgen-cli`)
# and libclang (`apt-get install libclang-dev`); those who only build Plimsoll need neither.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
prefix=${WIREDTIGER_DIR:-../../target/wiredtiger/11.3.1}

# The statistics that Plimsoll keeps, without their prefix. Their numbers change between versions, so they are taken from the header.
statistics=(
    CACHE_BYTES_INUSE CACHE_BYTES_MAX CACHE_BYTES_DIRTY CACHE_BYTES_READ CACHE_BYTES_WRITE
    CACHE_PAGES_REQUESTED CACHE_READ CACHE_WRITE CACHE_EVICTION_CLEAN CACHE_EVICTION_DIRTY
    EVICTION_APP_ATTEMPT EVICTION_APP_FAIL APPLICATION_CACHE_TIME
    BLOCK_READ BLOCK_WRITE BLOCK_BYTE_READ BLOCK_BYTE_WRITE
    LOG_BYTES_WRITTEN LOG_SYNC LOG_SYNC_DURATION
    CHECKPOINT_STATE CHECKPOINTS_TOTAL_SUCCEED CHECKPOINT_TIME_TOTAL
    TXN_ROLLBACK
    # For tests.
    TXN_COMMIT CURSOR_SEARCH CURSOR_NEXT CURSOR_INSERT CURSOR_MODIFY
)
joined=$(IFS='|'; echo "${statistics[*]}")

bindgen "$prefix/include/wiredtiger.h" \
    --rust-edition 2024 --rust-target 1.88 --merge-extern-blocks --no-doc-comments --no-prepend-enum-name --use-core \
    --allowlist-type 'WT_(CONNECTION|SESSION|CURSOR|ITEM|MODIFY|EVENT_HANDLER)' \
    --opaque-type '__wt_(collator|compressor|data_source|encryptor|extractor|storage_source|file_system|extension_api|page_log|config_arg|event_type)' \
    --allowlist-function 'wiredtiger_(open|strerror|version)' \
    --allowlist-var 'WIREDTIGER_VERSION_(MAJOR|MINOR|PATCH)' \
    --allowlist-var 'WT_(ROLLBACK|DUPLICATE_KEY|ERROR|NOTFOUND|PANIC|RUN_RECOVERY|CACHE_FULL|PREPARE_CONFLICT|TRY_SALVAGE)' \
    --allowlist-var "WT_STAT_CONN_($joined)" \
    --output src/bindings.rs
