/** Tables of the lens. A current belief is an entry of kind `belief` with a row of this aspect; past versions are rows of another table. */
import type { TableDeclaration } from '../../model/table.ts'

/** Collection of all beliefs, and the kind of their entries. */
export const COLLECTION = 'beliefs'
export const KIND = 'belief'

/** Aspect of a current version: the fields that an entry does not have. Holder, visibility and federations are in the entry's audience. */
export const BELIEFS: TableDeclaration = {
  name: 'beliefs_beliefs',
  aspect: 'belief',
  ofEntry: true,
  columns: [
    { name: 'entry', type: 'integer' },
    { name: 'version', type: 'integer', unasked: true },
    /** Id of the first version. It names all versions of one belief of one holder. */
    { name: 'chain', type: 'text', unasked: true },
    { name: 'supersedes', type: 'text', nullable: true, unasked: true },
    /** Domains of the belief: a JSON list, normalised. */
    { name: 'domains', type: 'text' },
    { name: 'source_reliability', type: 'real', nullable: true },
    { name: 'method_quality', type: 'real', nullable: true },
    { name: 'internal_consistency', type: 'real', nullable: true },
    { name: 'temporal_freshness', type: 'real', nullable: true },
    { name: 'corroboration', type: 'real', nullable: true },
    { name: 'domain_applicability', type: 'real', nullable: true },
    /** Derivation of the belief: JSON of a `KeptDerivation`. */
    { name: 'derivation', type: 'text', unasked: true },
  ],
  key: ['entry'],
}

/** Superseded versions and tombstones, read only for histories. They are in no index. */
export const VERSIONS: TableDeclaration = {
  name: 'beliefs_versions',
  columns: [
    { name: 'holder', type: 'text' },
    { name: 'id', type: 'text' },
    { name: 'chain', type: 'text' },
    { name: 'version', type: 'integer' },
    /** JSON of the stored version, including its audience. */
    { name: 'record', type: 'text' },
    /** Id of the following version; null for a tombstone. */
    { name: 'superseded_by', type: 'text', nullable: true },
    { name: 'replaced_at', type: 'integer' },
    /** Vector of the version (f32, little-endian), and the key of the model that computed it. */
    { name: 'embedding', type: 'blob', nullable: true },
    { name: 'model', type: 'text', nullable: true },
  ],
  key: ['holder', 'id'],
  countedFor: 'holder',
  indexes: [['id'], ['holder', 'chain']],
}

/** Trust edges: each is one agent's statement of trust in another, signed by its owner. */
export const TRUST: TableDeclaration = {
  name: 'beliefs_trust',
  columns: [
    { name: 'owner', type: 'text' },
    { name: 'target', type: 'text' },
    { name: 'level', type: 'real' },
    /** Levels of trust by domain: a JSON object from normalised domain to level. */
    { name: 'domains', type: 'text' },
    /** Reasons for the statement of trust: a JSON list of `{type, confidence, …}`. */
    { name: 'basis', type: 'text' },
    { name: 'created_at', type: 'integer' },
    { name: 'updated_at', type: 'integer' },
    { name: 'persistent', type: 'integer' },
    /** `private` or `exposed`. An exposed edge counts in routes of other agents even if its owner is not hosted here. */
    { name: 'exposure', type: 'text' },
    /** Signature of the statement by the owner's key, in base64url. */
    { name: 'signature', type: 'text' },
    /** Time of the last use; not part of the signed statement. */
    { name: 'last_used', type: 'integer' },
    /** JSON list of earlier uses, ascending, for as long as cursors are valid; null: none. */
    { name: 'used_before', type: 'text', nullable: true },
    /**
     * Seal of this store, showing that the signature was checked: an HMAC, which is much faster to check than the signature. Null: not
     * checked yet.
     */
    { name: 'checked', type: 'text', nullable: true },
  ],
  key: ['owner', 'target'],
  countedFor: 'owner',
  indexes: [['target']],
}

/** Log of changed trust edges, in order. Caches of other processes follow it. */
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

/**
 * Counters that increase with each change of what they name: `agents`, `members`, or `trust` (number of the last trust change). Never shown
 * to anybody.
 */
export const REVISIONS: TableDeclaration = {
  name: 'beliefs_revisions',
  columns: [
    { name: 'name', type: 'text' },
    { name: 'revision', type: 'integer' },
  ],
  key: ['name'],
  mechanical: true,
}

/** Other nodes that this node may ask (BQ-135). */
export const PEERS: TableDeclaration = {
  name: 'beliefs_peers',
  columns: [
    { name: 'id', type: 'text' },
    { name: 'address', type: 'text' },
    { name: 'did', type: 'text' },
    /** 1: the peer is asked for public beliefs. */
    { name: 'network', type: 'integer' },
    /** JSON list of the federations whose beliefs are requested from this peer, ascending. */
    { name: 'federations', type: 'text' },
    { name: 'added_at', type: 'integer' },
    /** Nothing reads it, `listed` (0) or `answered_at`: tables lose no column. */
    { name: 'model', type: 'text', nullable: true },
    { name: 'listed', type: 'integer' },
    { name: 'answered_at', type: 'integer', nullable: true },
  ],
  key: ['id'],
}

/** Settings, where they differ from the defaults, of federations whose results are aggregates (BQ-105). */
export const AGGREGATE_RULES: TableDeclaration = {
  name: 'beliefs_aggregate_rules',
  columns: [
    { name: 'federation', type: 'text' },
    /** 1: a topic is reported only if it has at least ten members, instead of five. */
    { name: 'sensitive', type: 'integer' },
    /** Privacy budget in thousandths of epsilon, for one answer and for one day; null: the default. */
    { name: 'epsilon_answer', type: 'integer', nullable: true },
    { name: 'epsilon_day', type: 'integer', nullable: true },
  ],
  key: ['federation'],
}

/** Figures reported for a topic in an epoch. They contain noise, and are the same for every member (BQ-105). */
export const AGGREGATE_ANSWERS: TableDeclaration = {
  name: 'beliefs_aggregate_answers',
  columns: [
    { name: 'federation', type: 'text' },
    /** Epoch of the figures: number of the day since 1970. */
    { name: 'epoch', type: 'integer' },
    /** Hash of the topic's text. */
    { name: 'topic', type: 'text' },
    /** Numbers of members and beliefs; null: nothing is reported. */
    { name: 'member_count', type: 'integer', nullable: true },
    { name: 'belief_count', type: 'integer', nullable: true },
  ],
  key: ['federation', 'epoch', 'topic'],
  aside: true,
}

/** Privacy budget spent by each member in an epoch, by topic (BQ-105). */
export const AGGREGATE_CHARGES: TableDeclaration = {
  name: 'beliefs_aggregate_charges',
  columns: [
    { name: 'federation', type: 'text' },
    { name: 'epoch', type: 'integer' },
    { name: 'member', type: 'text' },
    { name: 'topic', type: 'text' },
    /** Price paid for the topic, in thousandths of epsilon. */
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
