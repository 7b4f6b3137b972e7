/**
 * A conversation with an assistant is a tree where a question was edited or an answer was asked for again. The branch that is
 * shown is the conversation; what stands beside one of its messages is another version of that message; what follows such a
 * version is counted, not read.
 */
import type { Version } from '../model.ts'
import type { MessageDraft } from './reader.ts'

export interface TreeNode {
  readonly id: string
  readonly parent: string | null
  /** Null for nodes that carry no message (a root, a hidden one). */
  readonly draft: MessageDraft | null
}

type Nodes = ReadonlyMap<string, TreeNode>

export interface Branch {
  /** In order. */
  readonly messages: readonly MessageDraft[]
  /** Messages that are neither in the branch nor a version of one that is. */
  readonly left: number
}

/** `current`: the last node of the branch that is shown; null where it is not known: then the newest branch. */
export function branchOf(nodes: readonly TreeNode[], current: string | null): Branch {
  const byId = new Map(nodes.map(node => [node.id, node]))
  const parents = new Set(nodes.map(({ parent }) => parent))
  const shown = treesOf(nodes, byId).flatMap(tree => {
    const end = tree.find(node => node.id === current) ?? newest(tree, parents)
    return [...upwards(end, byId)].reverse()
  })
  const taken = new Set(shown.map(({ id }) => id))
  const others = nodes.filter(({ id, draft }) => draft !== null && !taken.has(id))
  const versions = versionsOf(others, shown, byId)
  const left = others.length - [...versions.values()].reduce((sum, { length }) => sum + length, 0)
  const messages = shown.flatMap(({ id, draft }) => {
    const own = versions.get(id)
    if (draft === null) return []
    return own === undefined ? [draft] : [{ ...draft, edited: editedBy(draft, own), versions: own }]
  })
  return { messages, left }
}

/** The node, its parent and so on, each once. */
function* upwards(from: TreeNode | undefined, byId: Nodes): Generator<TreeNode> {
  const seen = new Set<string>()
  for (let node = from; node !== undefined && !seen.has(node.id); node = byId.get(node.parent ?? '')) {
    seen.add(node.id)
    yield node
  }
}

/** One, where nothing is missing. Where a node is, what hangs below it is a tree of its own: all come, in order of time. */
function treesOf(nodes: readonly TreeNode[], byId: Nodes): readonly (readonly TreeNode[])[] {
  const roots = new Map<string, string>()
  const rootOf = (node: TreeNode): string => {
    const path: string[] = []
    let root = node.id
    for (const { id } of upwards(node, byId)) {
      path.push(id)
      root = roots.get(id) ?? id
      if (roots.has(id)) break
    }
    for (const id of path) roots.set(id, root)
    return root
  }
  const beginning = (tree: readonly TreeNode[]): number =>
    tree.reduce((first, { draft }) => Math.min(first, draft?.moment?.at ?? Number.MAX_VALUE), Number.MAX_VALUE)
  const trees = [...Map.groupBy(nodes, rootOf).values()].map(tree => ({ tree, at: beginning(tree) }))
  return trees.sort((a, b) => a.at - b.at).map(({ tree }) => tree)
}

/** The leaf that was written last; of those without a time the last one listed. */
function newest(tree: readonly TreeNode[], parents: ReadonlySet<string | null>): TreeNode {
  const leaves = tree.filter(({ id }) => !parents.has(id))
  const timeOf = ({ draft }: TreeNode): number => draft?.moment?.at ?? 0
  return (leaves.length === 0 ? tree : leaves).reduce((best, node) => (timeOf(node) >= timeOf(best) ? node : best))
}

/** For messages of the branch, by id: the texts of those beside them that the same one wrote, the oldest first. */
function versionsOf(
  others: readonly TreeNode[],
  shown: readonly TreeNode[],
  byId: Nodes,
): ReadonlyMap<string, readonly Version[]> {
  const byAnswered = new Map(shown.filter(({ draft }) => draft !== null).map(node => [answeredBy(node, byId), node]))
  const found = new Map<string, Version[]>()
  for (const node of others) {
    const draft = node.draft as MessageDraft
    const beside = byAnswered.get(answeredBy(node, byId))
    if (beside === undefined || beside.draft?.role !== draft.role) continue
    const versions = found.get(beside.id) ?? []
    versions.push({ text: draft.text, at: draft.moment?.at ?? null })
    found.set(beside.id, versions)
  }
  for (const list of found.values()) list.sort((a, b) => (a.at ?? 0) - (b.at ?? 0))
  return found
}

/** The message above it: between the two stand nodes without one, such as what an assistant thinks before it answers. */
function answeredBy({ parent }: TreeNode, byId: Nodes): string {
  let above = parent ?? ''
  for (const { id, draft, parent: next } of upwards(byId.get(above), byId)) {
    if (draft !== null || next === null) return id
    above = next
  }
  return above
}

/** An answer that was asked for again was not changed by anybody; a question that was asked again was. */
function editedBy({ role, moment, edited }: MessageDraft, others: readonly Version[]): MessageDraft['edited'] {
  const isLater = moment !== null && others.some(({ at }) => at !== null && at < moment.at)
  return role === 'user' && isLater ? { at: moment.at } : edited
}
