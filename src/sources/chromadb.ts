/**
 * A ChromaDB server or cluster as a source: collections of other programs, searched where they are, with their own metadata and distance
 * metric; and collections that `mirror` wrote, one per partition.
 */
import type { ChromaClient, Collection } from 'chromadb'
import type { AccessScope } from '../model/viewer.ts'
import type { Source } from '../pipeline/source.ts'
import { serverAddress } from './address.ts'
import { askEach } from './ask-each.ts'
import {
  type ChromaAddress,
  chromaFailure,
  findCollection,
  openChromaClient,
  requireDatabase,
} from './chroma-client.ts'
import { type CollectionOptions, CollectionQuestion } from './chroma-question.ts'
import { notFound, SourceFailure } from './failure.ts'
import { type AccessOptions, together, visibleCollections } from './partitions.ts'

/**
 * Options of a ChromaDB source. The option `partitionKeys` limits a searcher to certain mirrored collections. Without it, the searcher is
 * the owner, who may search every collection on the server.
 */
export interface ChromaSourceOptions extends ChromaAddress, AccessOptions, CollectionOptions {
  readonly name: string
}

/** Number of collections in one page, when all collections of the server are listed to read their labels (metadata). */
const PAGE = 100

/** Opens a ChromaDB source. Throws `invalid_argument` for an invalid address; nothing is sent to the server yet. */
export function openChromaSource(options: ChromaSourceOptions): Source {
  serverAddress(options.url)
  const deviations = new Map<string, number>()
  return {
    name: options.name,
    kind: 'chromadb',
    ask: request =>
      askEach(options.name, request, async (collection, signal) => {
        const { vector } = request
        if (vector === null) throw new SourceFailure('no_vector', `${collection}: there is no embedder for the query`)
        try {
          const client = await openChromaClient(options, signal)
          const found = await findCollections(client, collection, request.accessScope, options, signal)
          const answers = await Promise.all(
            found.map(one =>
              new CollectionQuestion(one, collection, { ...request, vector }, options, deviations).ask(),
            ),
          )
          return together(answers, request.limit)
        } catch (thrown) {
          throw chromaFailure(thrown, collection, options.url, vector.length)
        }
      }),
    close: () => Promise.resolve(),
  }
}

/**
 * Finds the collections on the server that a request for one collection name must search. Throws `SourceFailure` when the server has none,
 * or lacks the database.
 */
async function findCollections(
  client: ChromaClient,
  name: string,
  accessScope: AccessScope,
  options: ChromaSourceOptions,
  signal: AbortSignal,
): Promise<readonly Collection[]> {
  const found = await visibleCollections(name, accessScope, options, nameThere => findCollection(client, nameThere))
  if (found.length > 0) return found
  await requireDatabase(options, name, signal)
  const labelled = options.partitionKeys === undefined ? await labelledAs(client, name) : []
  if (labelled.length > 0) return labelled
  throw notFound(name)
}

async function labelledAs(client: ChromaClient, name: string): Promise<readonly Collection[]> {
  const found: Collection[] = []
  for (let offset = 0; ; offset += PAGE) {
    const page = await client.listCollections({ limit: PAGE, offset })
    found.push(...page.filter(({ metadata }) => metadata?.['querent_collection'] === name))
    if (page.length < PAGE) return found
  }
}
