/** What the lens keeps. A current belief is an entry of kind `belief` with this aspect; older versions are rows. */
import type { TableDeclaration } from '../../model/table.ts'

/** The collection that beliefs stand in, and the kind of their entries. */
export const COLLECTION = 'beliefs'
export const KIND = 'belief'

/** The aspect of a current version: what an entry has no place for. Holder, visibility and federations are its audience. */
export const BELIEFS: TableDeclaration = {
  name: 'beliefs_beliefs',
  aspect: 'belief',
  ofEntry: true,
  columns: [
    { name: 'entry', type: 'integer' },
    { name: 'version', type: 'integer', unasked: true },
    /** Names all versions of one belief of one holder: the id of the first. */
    { name: 'chain', type: 'text', unasked: true },
    { name: 'supersedes', type: 'text', nullable: true, unasked: true },
    /** JSON list, normalised. */
    { name: 'domains', type: 'text' },
    { name: 'source_reliability', type: 'real', nullable: true },
    { name: 'method_quality', type: 'real', nullable: true },
    { name: 'internal_consistency', type: 'real', nullable: true },
    { name: 'temporal_freshness', type: 'real', nullable: true },
    { name: 'corroboration', type: 'real', nullable: true },
    { name: 'domain_applicability', type: 'real', nullable: true },
    /** JSON `KeptDerivation`. */
    { name: 'derivation', type: 'text', unasked: true },
  ],
  key: ['entry'],
}

/** Versions that were replaced, and tombstones: for history reads only. Indexes never hold them. */
export const VERSIONS: TableDeclaration = {
  name: 'beliefs_versions',
  columns: [
    { name: 'holder', type: 'text' },
    { name: 'id', type: 'text' },
    { name: 'chain', type: 'text' },
    { name: 'version', type: 'integer' },
    /** JSON of the stored version, its audience included. */
    { name: 'record', type: 'text' },
    /** Null for a tombstone. */
    { name: 'superseded_by', type: 'text', nullable: true },
    { name: 'replaced_at', type: 'integer' },
    /** The vector it had, f32 little-endian, and the key of its model. */
    { name: 'embedding', type: 'blob', nullable: true },
    { name: 'model', type: 'text', nullable: true },
  ],
  key: ['holder', 'id'],
  countedFor: 'holder',
  indexes: [['id'], ['holder', 'chain']],
}

/** One agent's statement of trust in another, signed by its owner. */
export const TRUST: TableDeclaration = {
  name: 'beliefs_trust',
  columns: [
    { name: 'owner', type: 'text' },
    { name: 'target', type: 'text' },
    { name: 'level', type: 'real' },
    /** JSON object: normalised domain to level. */
    { name: 'domains', type: 'text' },
    /** JSON list of `{type, confidence, …}`. */
    { name: 'basis', type: 'text' },
    { name: 'created_at', type: 'integer' },
    { name: 'updated_at', type: 'integer' },
    { name: 'persistent', type: 'integer' },
    /** `private`, or `exposed`: counts in routes of others though its owner is not hosted here. */
    { name: 'exposure', type: 'text' },
    /** Of the statement, by the owner's key; base64url. */
    { name: 'signature', type: 'text' },
    /** Not part of the statement. */
    { name: 'last_used', type: 'integer' },
    /** JSON list of the uses before, ascending, as far back as cursors reach; null: none. */
    { name: 'used_before', type: 'text', nullable: true },
    /** Seal of this store that the signature was checked: an HMAC, far quicker to check again. Null: not yet. */
    { name: 'checked', type: 'text', nullable: true },
  ],
  key: ['owner', 'target'],
  countedFor: 'owner',
  indexes: [['target']],
}

/** Which edges changed, in order: what caches of other processes follow. */
export const TRUST_CHANGES: TableDeclaration = {
  name: 'beliefs_trust_changes',
  columns: [
    { name: 'seq', type: 'integer' },
    { name: 'owner', type: 'text' },
    { name: 'target', type: 'text' },
  ],
  key: ['seq'],
  mechanical: true,
}

/** Counters that rise when what they name changes: `agents`, `members`, `trust` (its newest change). Never shown. */
export const REVISIONS: TableDeclaration = {
  name: 'beliefs_revisions',
  columns: [
    { name: 'name', type: 'text' },
    { name: 'revision', type: 'integer' },
  ],
  key: ['name'],
  mechanical: true,
}

/** Other nodes that may be asked (BQ-135). */
export const PEERS: TableDeclaration = {
  name: 'beliefs_peers',
  columns: [
    { name: 'id', type: 'text' },
    { name: 'address', type: 'text' },
    { name: 'did', type: 'text' },
    /** 1: asked for public beliefs. */
    { name: 'network', type: 'integer' },
    /** JSON list of the federations whose beliefs are requested from it, ascending. */
    { name: 'federations', type: 'text' },
    { name: 'added_at', type: 'integer' },
    /** Nothing reads it, `listed` (0) or `answered_at`: tables lose no column. */
    { name: 'model', type: 'text', nullable: true },
    { name: 'listed', type: 'integer' },
    { name: 'answered_at', type: 'integer', nullable: true },
  ],
  key: ['id'],
}

/** Of federations whose results are aggregates, where they are not as by default (BQ-105). */
export const AGGREGATE_RULES: TableDeclaration = {
  name: 'beliefs_aggregate_rules',
  columns: [
    { name: 'federation', type: 'text' },
    /** 1: a topic needs ten members before it is reported, not five. */
    { name: 'sensitive', type: 'integer' },
    /** Thousandths of epsilon, of an answer and of a day; null: the default. */
    { name: 'epsilon_answer', type: 'integer', nullable: true },
    { name: 'epsilon_day', type: 'integer', nullable: true },
  ],
  key: ['federation'],
}

/** Figures that were reported of a topic in an epoch: with noise, the same for every member (BQ-105). */
export const AGGREGATE_ANSWERS: TableDeclaration = {
  name: 'beliefs_aggregate_answers',
  columns: [
    { name: 'federation', type: 'text' },
    /** Days since 1970. */
    { name: 'epoch', type: 'integer' },
    /** Hash of the topic. */
    { name: 'topic', type: 'text' },
    /** Null: nothing is reported. */
    { name: 'member_count', type: 'integer', nullable: true },
    { name: 'belief_count', type: 'integer', nullable: true },
  ],
  key: ['federation', 'epoch', 'topic'],
  aside: true,
}

/** Who has paid for which topic in an epoch (BQ-105). */
export const AGGREGATE_CHARGES: TableDeclaration = {
  name: 'beliefs_aggregate_charges',
  columns: [
    { name: 'federation', type: 'text' },
    { name: 'epoch', type: 'integer' },
    { name: 'member', type: 'text' },
    { name: 'topic', type: 'text' },
    /** Thousandths. */
    { name: 'epsilon', type: 'integer' },
  ],
  key: ['federation', 'epoch', 'member', 'topic'],
  aside: true,
}

export const BELIEFS_TABLES: readonly TableDeclaration[] = [
  BELIEFS,
  VERSIONS,
  TRUST,
  TRUST_CHANGES,
  REVISIONS,
  PEERS,
  AGGREGATE_RULES,
  AGGREGATE_ANSWERS,
  AGGREGATE_CHARGES,
]
