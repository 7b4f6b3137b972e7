/**
 * A conversation with an assistant is a tree where a question was written anew or an answer was asked for again. The
 * branch that is shown is the conversation; what stands beside one of its messages is another version of that message;
 * what follows such a version is counted, not read.
 */
import type { Version } from '../model.ts'
import type { MessageDraft } from './draft.ts'

export interface TreeNode {
  readonly id: string
  readonly parent: string | null
  /** Null for nodes that carry no message (a root, a hidden one). */
  readonly draft: MessageDraft | null
}

export interface Branch {
  /** In order. */
  readonly messages: readonly MessageDraft[]
  /** Messages that are neither in the branch nor a version of one that is. */
  readonly left: number
}

/** `current`: the last node of the branch that is shown; null where it is not known: then the newest branch. */
export function branchOf(nodes: readonly TreeNode[], current: string | null): Branch {
  const byId = new Map(nodes.map(node => [node.id, node]))
  const shown: TreeNode[] = []
  const taken = new Set<string>()
  const trees = treesOf(nodes, byId)
  for (const tree of trees) {
    const end = tree.find(node => node.id === current) ?? newest(tree, nodes)
    const path = pathTo(end, byId)
    for (const node of path) taken.add(node.id)
    shown.push(...path)
  }
  const versions = versionsOf(nodes, shown, taken, byId)
  const beside = [...versions.values()].reduce((sum, list) => sum + list.length, 0)
  const left = nodes.filter(({ id, draft }) => draft !== null && !taken.has(id)).length - beside
  const messages = shown.flatMap(({ id, draft }) => {
    if (draft === null) return []
    const others = versions.get(id) ?? []
    return [others.length === 0 ? draft : { ...draft, edited: editedBy(draft, others), versions: others }]
  })
  return { messages, left }
}

/** One, where nothing is missing. Where a node is, what hangs below it is a tree of its own: all come, in order of time. */
function treesOf(nodes: readonly TreeNode[], byId: ReadonlyMap<string, TreeNode>): readonly (readonly TreeNode[])[] {
  const trees = new Map<string, TreeNode[]>()
  const roots = new Map<string, string>()
  for (const node of nodes) {
    const root = rootOf(node, byId, roots)
    const tree = trees.get(root)
    if (tree === undefined) trees.set(root, [node])
    else tree.push(node)
  }
  const begins = (tree: readonly TreeNode[]): number =>
    Math.min(...tree.map(({ draft }) => draft?.at ?? Number.POSITIVE_INFINITY))
  const timed = [...trees.values()].map(tree => ({ tree, at: begins(tree) }))
  return timed.sort((a, b) => (a.at === b.at ? 0 : a.at < b.at ? -1 : 1)).map(({ tree }) => tree)
}

/** Of nodes that are their own ancestors: one of them. */
function rootOf(node: TreeNode, byId: ReadonlyMap<string, TreeNode>, roots: Map<string, string>): string {
  const way: string[] = []
  const seen = new Set<string>()
  let at = node
  for (;;) {
    const known = roots.get(at.id)
    if (known !== undefined || seen.has(at.id)) {
      const root = known ?? at.id
      for (const id of way) roots.set(id, root)
      return root
    }
    seen.add(at.id)
    way.push(at.id)
    const parent = at.parent === null ? undefined : byId.get(at.parent)
    if (parent === undefined) {
      for (const id of way) roots.set(id, at.id)
      return at.id
    }
    at = parent
  }
}

/** The leaf that was written last; of those without a time the last one listed. */
function newest(tree: readonly TreeNode[], nodes: readonly TreeNode[]): TreeNode {
  const parents = new Set(nodes.map(({ parent }) => parent))
  const leaves = tree.filter(({ id }) => !parents.has(id))
  const candidates = leaves.length === 0 ? tree : leaves
  return candidates.reduce((best, node) => ((node.draft?.at ?? 0) >= (best.draft?.at ?? 0) ? node : best))
}

function pathTo(end: TreeNode, byId: ReadonlyMap<string, TreeNode>): readonly TreeNode[] {
  const path: TreeNode[] = []
  const seen = new Set<string>()
  for (let node: TreeNode | undefined = end; node !== undefined && !seen.has(node.id); ) {
    seen.add(node.id)
    path.push(node)
    node = node.parent === null ? undefined : byId.get(node.parent)
  }
  return path.reverse()
}

/** For messages of the branch: the texts of those beside them that the same one wrote. */
function versionsOf(
  nodes: readonly TreeNode[],
  shown: readonly TreeNode[],
  taken: ReadonlySet<string>,
  byId: ReadonlyMap<string, TreeNode>,
): ReadonlyMap<string, readonly Version[]> {
  const byAnswered = new Map(shown.filter(({ draft }) => draft !== null).map(node => [answeredBy(node, byId), node]))
  const found = new Map<string, Version[]>()
  for (const node of nodes) {
    const { id, draft } = node
    if (draft === null || taken.has(id)) continue
    const beside = byAnswered.get(answeredBy(node, byId))
    if (beside === undefined || beside.draft?.role !== draft.role) continue
    const version = { text: draft.text, at: draft.at }
    const list = found.get(beside.id)
    if (list === undefined) found.set(beside.id, [version])
    else list.push(version)
  }
  for (const list of found.values()) list.sort((a, b) => (a.at ?? 0) - (b.at ?? 0))
  return found
}

/** The message above it: between the two stand nodes without one, such as what an assistant thinks before it answers. */
function answeredBy(node: TreeNode, byId: ReadonlyMap<string, TreeNode>): string {
  const seen = new Set<string>()
  let above = node.parent
  while (above !== null && !seen.has(above)) {
    seen.add(above)
    const next = byId.get(above)
    if (next === undefined || next.draft !== null || next.parent === null) return above
    above = next.parent
  }
  return above ?? ''
}

/** An answer that was asked for again was not changed by anybody; a question that was written anew was. */
function editedBy(draft: MessageDraft, others: readonly Version[]): MessageDraft['edited'] {
  if (draft.role !== 'user') return draft.edited
  const isLater = others.some(({ at }) => at !== null && draft.at !== null && at < draft.at)
  return isLater ? { at: draft.at } : draft.edited
}
