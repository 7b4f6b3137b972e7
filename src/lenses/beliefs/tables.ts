/**
 * Tables of the beliefs lens. A current belief is an entry of kind `belief` with a row in the table `beliefs_beliefs`; past versions are
 * rows in `beliefs_versions`.
 */
import type { TableDeclaration } from '../../model/table.ts'

/** Name of the collection that contains all beliefs, and the kind of their entries. */
export const COLLECTION = 'beliefs'
export const KIND = 'belief'

/**
 * Table of current versions: fields of a belief that its entry does not have. Holder, visibility and federations are in the entry's
 * audience.
 */
export const BELIEFS: TableDeclaration = {
  name: 'beliefs_beliefs',
  aspect: 'belief',
  ofEntry: true,
  columns: [
    { name: 'entry', type: 'integer' },
    { name: 'version', type: 'integer', unasked: true },
    /** Id of the belief's first version, by which all versions of the belief are grouped; unique per holder. */
    { name: 'chain', type: 'text', unasked: true },
    { name: 'supersedes', type: 'text', nullable: true, unasked: true },
    /** Domains of the belief in normal form, as a JSON list. */
    { name: 'domains', type: 'text' },
    { name: 'source_reliability', type: 'real', nullable: true },
    { name: 'method_quality', type: 'real', nullable: true },
    { name: 'internal_consistency', type: 'real', nullable: true },
    { name: 'temporal_freshness', type: 'real', nullable: true },
    { name: 'corroboration', type: 'real', nullable: true },
    { name: 'domain_applicability', type: 'real', nullable: true },
    /** Derivation of the belief (how it came about, with its sources), as JSON of a `KeptDerivation`. */
    { name: 'derivation', type: 'text', unasked: true },
  ],
  key: ['entry'],
}

/**
 * Table of superseded versions and of tombstones (last versions of deleted beliefs). It is read only for histories and derivations, and no
 * index contains its rows.
 */
export const VERSIONS: TableDeclaration = {
  name: 'beliefs_versions',
  columns: [
    { name: 'holder', type: 'text' },
    { name: 'id', type: 'text' },
    { name: 'chain', type: 'text' },
    { name: 'version', type: 'integer' },
    /** All other fields of the version as JSON, including its audience. */
    { name: 'record', type: 'text' },
    /** Id of the version that follows this one; null for a tombstone. */
    { name: 'superseded_by', type: 'text', nullable: true },
    { name: 'replaced_at', type: 'integer' },
    /**
     * Two columns: the version's vector (32-bit floats, little-endian), and the identifier of the embedding model that computed it. Both
     * are null if the version has no vector.
     */
    { name: 'embedding', type: 'blob', nullable: true },
    { name: 'model', type: 'text', nullable: true },
  ],
  key: ['holder', 'id'],
  countedFor: 'holder',
  indexes: [['id'], ['holder', 'chain']],
}

/** Table of trust edges. An edge is the statement of one agent, its owner, about its trust in another; it is signed by the owner's key. */
export const TRUST: TableDeclaration = {
  name: 'beliefs_trust',
  columns: [
    { name: 'owner', type: 'text' },
    { name: 'target', type: 'text' },
    { name: 'level', type: 'real' },
    /** Levels of trust for single domains: a JSON object with domains in normal form as keys. */
    { name: 'domains', type: 'text' },
    /** Reasons for the trust: a JSON list of `{type, confidence, …}`. */
    { name: 'basis', type: 'text' },
    { name: 'created_at', type: 'integer' },
    { name: 'updated_at', type: 'integer' },
    { name: 'persistent', type: 'integer' },
    /** `private` or `exposed`. An exposed edge counts for other agents' transitive trust even if its owner is not an agent of this node. */
    { name: 'exposure', type: 'text' },
    /** Signature of the owner's key over the statement of trust, in base64url. */
    { name: 'signature', type: 'text' },
    /** Time when the edge last contributed to an answer; not part of the signed statement. */
    { name: 'last_used', type: 'integer' },
    /** JSON list of earlier uses, ascending, kept for as long as cursors are valid; null: none. */
    { name: 'used_before', type: 'text', nullable: true },
    /**
     * Seal by which this store marks that it has checked the signature: an HMAC, which is checked much faster than the signature. Null: the
     * signature was not checked yet.
     */
    { name: 'checked', type: 'text', nullable: true },
  ],
  key: ['owner', 'target'],
  countedFor: 'owner',
  indexes: [['target']],
}

/** Log of changed trust edges, numbered in the order of the changes. Other processes follow it to update their caches. */
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
 * Table of change counters. `agents` and `members` increase with every change of agents or of federation memberships. `trust` is the number
 * of the last entry in the log of changed trust edges. Counters are never shown to requesters.
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

/** Table of the other nodes that this node may query (BQ-135). */
export const PEERS: TableDeclaration = {
  name: 'beliefs_peers',
  columns: [
    { name: 'id', type: 'text' },
    { name: 'address', type: 'text' },
    { name: 'did', type: 'text' },
    /** 1 if the node is queried for public beliefs, otherwise 0. */
    { name: 'network', type: 'integer' },
    /** JSON list of the federations for whose beliefs the node is queried, ascending. */
    { name: 'federations', type: 'text' },
    { name: 'added_at', type: 'integer' },
    /**
     * The columns `model`, `listed` (always 0) and `answered_at` are no longer read; they remain because columns are never removed from
     * tables.
     */
    { name: 'model', type: 'text', nullable: true },
    { name: 'listed', type: 'integer' },
    { name: 'answered_at', type: 'integer', nullable: true },
  ],
  key: ['id'],
}

/**
 * Table of settings of federations that publish only aggregates (BQ-105); a federation has a row only if its settings differ from the
 * defaults.
 */
export const AGGREGATE_RULES: TableDeclaration = {
  name: 'beliefs_aggregate_rules',
  columns: [
    { name: 'federation', type: 'text' },
    /**
     * 1 if a topic of the federation is reported only when at least ten of its members hold beliefs on the topic; otherwise five are
     * enough.
     */
    { name: 'sensitive', type: 'integer' },
    /**
     * Privacy budget for one answer and for one day, in thousandths of epsilon (the parameter of differential privacy); null: the default.
     */
    { name: 'epsilon_answer', type: 'integer', nullable: true },
    { name: 'epsilon_day', type: 'integer', nullable: true },
  ],
  key: ['federation'],
}

/**
 * Table of the figures that were reported about a topic of a federation in an epoch (one day). The figures contain random noise; they are
 * stored so that every member that asks gets the same ones (BQ-105).
 */
export const AGGREGATE_ANSWERS: TableDeclaration = {
  name: 'beliefs_aggregate_answers',
  columns: [
    { name: 'federation', type: 'text' },
    /** Epoch for which the figures are valid: number of the day since 1970. */
    { name: 'epoch', type: 'integer' },
    /** Hash of the text by which the topic was asked for. */
    { name: 'topic', type: 'text' },
    /** Reported numbers of members and of beliefs, with noise; null: nothing is reported for the topic. */
    { name: 'member_count', type: 'integer', nullable: true },
    { name: 'belief_count', type: 'integer', nullable: true },
  ],
  key: ['federation', 'epoch', 'topic'],
  aside: true,
}

/**
 * Table of the privacy budget (a limit on answers about aggregates) that each member has spent in an epoch (one day), by topic (BQ-105).
 */
export const AGGREGATE_CHARGES: TableDeclaration = {
  name: 'beliefs_aggregate_charges',
  columns: [
    { name: 'federation', type: 'text' },
    { name: 'epoch', type: 'integer' },
    { name: 'member', type: 'text' },
    { name: 'topic', type: 'text' },
    /** Privacy budget charged for the topic, in thousandths of epsilon. */
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
