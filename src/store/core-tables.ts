/** Tables of the core itself: who is hosted here, and who stands in which federation. Lenses add their own. */
import type { TableDeclaration } from '../model/table.ts'

export const AGENTS: TableDeclaration = {
  name: 'agents',
  columns: [
    { name: 'id', type: 'text' },
    { name: 'label', type: 'text', nullable: true },
    { name: 'created_at', type: 'integer' },
  ],
  key: ['id'],
}

export const FEDERATIONS: TableDeclaration = {
  name: 'federations',
  columns: [
    { name: 'id', type: 'text' },
    { name: 'label', type: 'text', nullable: true },
    { name: 'created_at', type: 'integer' },
  ],
  key: ['id'],
}

/** `status` is `active`, `suspended` or `left`; only active members read, and only active holders are read. */
export const MEMBERSHIPS: TableDeclaration = {
  name: 'memberships',
  columns: [
    { name: 'federation', type: 'text' },
    { name: 'agent', type: 'text' },
    { name: 'status', type: 'text' },
    { name: 'updated_at', type: 'integer' },
  ],
  key: ['federation', 'agent'],
  indexes: [['agent']],
}

/** Which file an entry was made from, and the state it had: what incremental ingest compares. */
export const FILES: TableDeclaration = {
  name: 'files',
  columns: [
    { name: 'entry', type: 'integer' },
    { name: 'root', type: 'text' },
    { name: 'path', type: 'text' },
    { name: 'hash', type: 'text' },
    { name: 'size', type: 'integer' },
    { name: 'modified_at', type: 'integer' },
  ],
  key: ['entry'],
  ofEntry: true,
  indexes: [['root', 'path']],
}

/** One process at a time does a named background job; it renews its lease or loses it. Machine time, ms. */
export const LEASES: TableDeclaration = {
  name: 'leases',
  columns: [
    { name: 'name', type: 'text' },
    { name: 'holder', type: 'text' },
    { name: 'expires_at', type: 'integer' },
  ],
  key: ['name'],
}

export const CORE_TABLES: readonly TableDeclaration[] = [AGENTS, FEDERATIONS, MEMBERSHIPS, FILES, LEASES]
