/** What a belief was derived from, step by step, as far as the requester may see (BQ-089, BQ-090). */
import { toIso } from '../../../model/instant.ts'
import { overall } from '../measures/confidence.ts'
import type { ChainLink, Contribution, DerivationChain } from '../model.ts'
import { type View, versionNamed } from './read.ts'
import { namedBy } from './references.ts'
import type { StoredVersion } from './version.ts'

const PREVIEW_LENGTH = 200

/**
 * Nearest first; of one depth in the order of the sources. A version that was met before is not gone into again, one that
 * may not be seen ends its branch without a trace. `look` is called before each version is gone into, and may throw.
 */
export function derivationChain(
  view: View,
  from: StoredVersion,
  maxDepth: number,
  look: () => void = () => undefined,
): DerivationChain {
  const chain: ChainLink[] = [linkOf(from, 0, null)]
  const met = new Set([nameOf(from)])
  let level: readonly StoredVersion[] = [from]
  let depth = 0
  while (depth < maxDepth && level.length > 0) {
    const next = level.flatMap(version => {
      look()
      return sourcesOf(view, version).filter(source => !isMet(met, source.version))
    })
    if (next.length > 0) depth++
    chain.push(...next.map(({ version, contribution }) => linkOf(version, depth, contribution)))
    level = next.map(({ version }) => version)
  }
  return { belief_id: from.id, depth, chain }
}

interface SeenSource {
  readonly version: StoredVersion
  readonly contribution: Contribution
}

/** Beliefs that a version names as its sources, of whatever contribution, in its order. */
export function sourcesOf(view: View, { derivation, holder }: StoredVersion): readonly SeenSource[] {
  return derivation.sources.flatMap(source => {
    const named = namedBy(source, holder)
    const seen = named === null ? undefined : versionNamed(view, named)
    return seen === undefined ? [] : [{ version: seen.version, contribution: source.contribution_type }]
  })
}

/** Whether it was met before; it is now. */
function isMet(met: Set<string>, version: StoredVersion): boolean {
  const before = met.size
  return met.add(nameOf(version)).size === before
}

/** Names have no blanks, so no two pairs give the same. */
function nameOf({ holder, id }: StoredVersion): string {
  return `${holder} ${id}`
}

function linkOf(version: StoredVersion, depth: number, contribution: Contribution | null): ChainLink {
  return {
    belief_id: version.id,
    depth,
    contribution_type: contribution,
    content_preview: previewOf(version.content),
    derivation_type: version.derivation.type,
    overall: overall(version.confidence).overall,
    created_at: toIso(version.createdAt),
  }
}

/** Does not end within a pair of surrogates. */
function previewOf(content: string): string {
  const cut = content.slice(0, PREVIEW_LENGTH)
  return cut.isWellFormed() ? cut : cut.slice(0, -1)
}
