/** The parts of an engine: put together by `open.ts`, and used by everything else in this folder. */
import type { Clock } from '../base/clock.ts'
import type { Embedder } from '../embed/embedder.ts'
import type { NodeIdentity } from '../identity/messages.ts'
import type { Limits } from '../identity/rates.ts'
import type { Index } from '../index/contract.ts'
import type { Scratch } from '../lenses/lens.ts'
import type { LensRegistry } from '../lenses/registry.ts'
import type { TableDeclaration } from '../model/table.ts'
import type { Workspace } from '../model/workspace.ts'
import type { NodeTransport } from '../pipeline/transport.ts'
import type { Store } from '../store/store.ts'
import type { AddedFiles } from './added-files.ts'
import type { Embedding, JobState } from './background/background.ts'
import type { Lease } from './background/lease.ts'
import type { IndexSet } from './index-set.ts'
import type { Models } from './models.ts'
import type { SignedRequests } from './node-identity.ts'
import type { LiveSettings } from './options.ts'
import type { SourceSet } from './sources.ts'
import type { Uses } from './uses.ts'

export interface Parts {
  readonly store: Store
  readonly home: string | null
  /** Path of the store file; null for a store in memory or a `Store` object of the caller. */
  readonly storeFile: string | null
  /** The folder whose files are read. Absent without a home. */
  readonly workspace: Workspace | undefined
  readonly clock: Clock
  readonly random: (bytes: number) => Uint8Array
  /** The embedder that answers at present. */
  readonly embedder: Embedder | null
  readonly models: Models
  /** Why there is no embedder although one was wanted, or null. */
  readonly embedderError: string | null
  readonly indexes: IndexSet
  /** Lease for writing the index snapshot files: one process at a time. */
  readonly snapshots: Lease
  /** Creates a new lease object at each call: two leases of one name also exclude each other within this engine. */
  readonly lease: (name: string) => Lease
  readonly uses: Uses
  /** Added files and folders, which are kept up to date. */
  readonly files: AddedFiles
  /** The configured sources, opened when one is first used. */
  readonly sources: () => Promise<SourceSet>
  /** Identity of this node; undefined in an engine that was opened for one query. */
  readonly node: NodeIdentity | undefined
  readonly signedRequests: SignedRequests | undefined
  readonly transport: NodeTransport
  /** Whether the engine works in the background for as long as its process runs. */
  readonly isLasting: boolean
  readonly makeIndex: (name: string) => Index
  /** Creates an empty store in memory, with indexes for entries. */
  readonly makeScratch: () => Scratch
  readonly embedding: Embedding | null
  /** Whether to load the vector index while the first query is embedded. */
  readonly warm: boolean
  /** States of the background jobs that ran in this process. */
  readonly jobs: ReadonlyMap<string, JobState>
  readonly registry: LensRegistry
  readonly tables: readonly TableDeclaration[]
  readonly defaultLens: string
  readonly live: LiveSettings
  readonly limits: Limits
  readonly lensSettings: Readonly<Record<string, unknown>>
  /** The environment variables that are set and not empty. */
  readonly environment: Readonly<Record<string, string>>
  /** Ends background work and closes what was opened, in reverse order. */
  readonly close: () => Promise<void>
}
