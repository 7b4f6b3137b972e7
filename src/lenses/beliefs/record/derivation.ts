/**
 * What beliefs were derived from, as far as the requester may see: step by step (BQ-089, BQ-090), and how far they are
 * from a root (BQ-053).
 */
import { toIso } from '../../../model/instant.ts'
import type { Requester } from '../access/requester.ts'
import type { BeliefColumns } from '../columns/columns.ts'
import { overall } from '../measures/confidence.ts'
import type { ChainLink, Contribution, DerivationChain } from '../model.ts'
import { historyOf, type View, versionNamed } from './read.ts'
import { namedBy, type StoredVersion } from './version.ts'

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

/** Of what is hidden, and of beliefs in a circle without a root. */
const NO_DEPTH = -1

interface Made {
  readonly columns: BeliefColumns
  /** Of beliefs in the partitions in sight. */
  readonly changes: number
  readonly depths: Int32Array
}

/** A requester stands for one state of memberships, a number of changes for one of beliefs in sight. */
const MADE = new WeakMap<Requester, Made>()

/**
 * By row, how far beliefs are from a root (BQ-053), over those that one requester may see: a root rests on no visible belief. What
 * rests on a past version rests on the current one of its chain, if the past may be seen. Fewest steps; infinite: there is no
 * root, or the row is hidden. Made once for as long as nothing changes.
 */
export function derivationDepths(view: View): (row: number) => number {
  const depths = remembered(view)
  return row => {
    const depth = depths[row] ?? NO_DEPTH
    return depth === NO_DEPTH ? Number.POSITIVE_INFINITY : depth
  }
}

function remembered(view: View): Int32Array {
  const { requester, columns } = view
  const known = MADE.get(requester)
  const changes = columns.changesIn(requester.accessScope.partitions)
  if (known?.columns === columns && known.changes === changes) return known.depths
  const depths = depthsOf(view)
  MADE.set(requester, { columns, changes, depths })
  return depths
}

/** By row: fewest steps to a root, or `NO_DEPTH`. */
function depthsOf(view: View): Int32Array {
  const parents = visibleParents(view)
  const depths = new Int32Array(view.columns.rows).fill(NO_DEPTH)
  const children = childrenOf(parents)
  let front: number[] = []
  for (const partition of view.requester.accessScope.partitions) {
    for (const row of view.columns.rowsIn(partition)) {
      if (parents.has(row)) continue
      depths[row] = 0
      if (children.has(row)) front.push(row)
    }
  }
  for (let depth = 1; front.length > 0; depth++) {
    const reached: number[] = []
    for (const row of front) {
      for (const child of children.get(row) ?? []) {
        if (depths[child] !== NO_DEPTH) continue
        depths[child] = depth
        reached.push(child)
      }
    }
    front = reached
  }
  return depths
}

/** Rows that visible beliefs rest on; beliefs that rest on none are absent. */
function visibleParents(view: View): ReadonlyMap<number, readonly number[]> {
  const { columns, requester } = view
  const { partitions } = columns.arrays
  const pastRow = pastRows(view)
  const found = new Map<number, readonly number[]>()
  const tick = view.time?.ticker()
  for (const partition of requester.accessScope.partitions) {
    for (const row of columns.rowsIn(partition)) {
      tick?.()
      const named = columns.parentsOf(row)
      if (named.length === 0) continue
      const rows: number[] = []
      for (let at = 0; at < named.length; at += 2) {
        const [holder, id] = [named[at] as number, named[at + 1] as number]
        const current = columns.rowOfVersion(holder, id)
        const parent = current === -1 ? pastRow(holder, id) : current
        if (parent !== -1 && requester.sees(partitions[parent] as number)) rows.push(parent)
      }
      if (rows.length > 0) found.set(row, rows)
    }
  }
  return found
}

function childrenOf(parents: ReadonlyMap<number, readonly number[]>): ReadonlyMap<number, readonly number[]> {
  const children = new Map<number, number[]>()
  for (const [row, above] of parents) {
    for (const parent of above) {
      const list = children.get(parent)
      if (list === undefined) children.set(parent, [row])
      else list.push(row)
    }
  }
  return children
}

/** Which row stands in place of a version of the past, each looked up once; -1: there was no such version, it may not be seen, or none does. */
function pastRows(view: View): (holder: number, id: number) => number {
  const { columns, time } = view
  const known = new Map<string, number>()
  const lookUp = (holder: number, id: number) => {
    // Reads of the store, each dearer than many rows.
    time?.check()
    const seen = versionNamed(view, { holder: columns.texts.holder(holder), id: columns.texts.id(id) })
    const newest = seen && historyOf(view, seen.version.holder, seen.version.chain)[0]
    return newest?.entry ? columns.rowOf(newest.entry.key) : -1
  }
  return (holder, id) => {
    const name = `${holder}:${id}`
    const row = known.get(name) ?? lookUp(holder, id)
    known.set(name, row)
    return row
  }
}
