/** The parts that make up an open engine: `open.ts` creates them, and all other modules of this folder use them. */
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
  /** Path of the store file; null if the store is in memory or the caller passed a `Store` object. */
  readonly storeFile: string | null
  /** The workspace whose files may be read into the store: the folder that contains the home. Absent without a home. */
  readonly workspace: Workspace | undefined
  readonly clock: Clock
  readonly random: (bytes: number) => Uint8Array
  /** The embedder that answers queries at present; null: queries are answered by word search only. */
  readonly embedder: Embedder | null
  readonly models: Models
  /** Why the engine has no embedder although the settings ask for one; null: it has one, or none is wanted. */
  readonly embedderError: string | null
  readonly indexes: IndexSet
  /** Lease that allows one process at a time to write the snapshot files of the indexes. */
  readonly snapshots: Lease
  /**
   * Creates a lease, which lets one holder at a time do the job of this name. Each call creates a new lease object; two objects for one job
   * exclude each other even within this engine.
   */
  readonly lease: (name: string) => Lease
  readonly uses: Uses
  /** The files and folders that were added to the store; finds those that have changed and reads them again. */
  readonly files: AddedFiles
  /** The external search sources that the settings name, such as ChromaDB and Qdrant servers; opened when one of them is first used. */
  readonly sources: () => Promise<SourceSet>
  /**
   * The key and the nonces (numbers used once) with which this node, that is, the store of this engine, communicates with other nodes.
   * Undefined in an engine that was opened for one query with the default lens only.
   */
  readonly node: NodeIdentity | undefined
  readonly signedRequests: SignedRequests | undefined
  readonly transport: NodeTransport
  /** Whether the engine makes vectors and maintains the store in the background. */
  readonly isLasting: boolean
  readonly makeIndex: (name: string) => Index
  /** Creates an empty temporary store in memory, with indexes of its own. */
  readonly makeScratch: () => Scratch
  readonly embedding: Embedding | null
  /** Whether to load the vector index while the embedding model embeds the first query, rather than afterwards. */
  readonly warm: boolean
  /** Progress and last failure of the background jobs that ran in this process, by job name. */
  readonly jobs: ReadonlyMap<string, JobState>
  readonly registry: LensRegistry
  readonly tables: readonly TableDeclaration[]
  readonly defaultLens: string
  readonly live: LiveSettings
  readonly limits: Limits
  readonly lensSettings: Readonly<Record<string, unknown>>
  /** The environment variables that are set to a text that is not empty. */
  readonly environment: Readonly<Record<string, string>>
  /** Ends background work and closes the parts of the engine in reverse order of opening. */
  readonly close: () => Promise<void>
}
