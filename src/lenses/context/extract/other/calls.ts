/** Second pass over definitions: what they call, as far as this file alone tells what is meant. */
import type { Reference } from '../concept.ts'
import type { Node } from '../syntax-tree.ts'
import type { DefinitionsFile } from './definitions-file.ts'
import { own } from './dialects.ts'
import { calledName } from './names.ts'

export function referCalls(file: DefinitionsFile): void {
  file.eachNode((node, kind) => {
    const field = own(file.dialect.calls, kind)
    if (field !== undefined) referCall(file, node, field)
  })
}

function referCall(file: DefinitionsFile, node: Node, field: string): void {
  const called = calledName(file.tree, node, field)
  if (called === null) return
  const { typeName, selfName } = file.scope(node)
  const isSelf = called.receiver !== null && called.receiver === selfName
  const target = targetOf(file, called.name, isSelf ? 'self' : called.receiver, typeName)
  if (target !== null) file.draft.refer(file.owner(node), 'CALLS', target)
}

/** Null: a method of something whose type is not known. */
function targetOf(
  { language, types, functions, methods }: DefinitionsFile,
  name: string,
  receiver: string | null,
  typeName: string | null,
): Reference | null {
  if (receiver !== null) {
    const type = receiver === 'self' ? typeName : receiver.replace(/.*\./, '')
    const key = type === null ? undefined : methods.get(`${type}.${name}`)
    return key === undefined ? null : { local: key }
  }
  const hasImplicitSelf = !/^(?:go|rust|php)$/.test(language)
  const method = typeName === null || !hasImplicitSelf ? undefined : methods.get(`${typeName}.${name}`)
  const key = method ?? functions.get(name) ?? types.get(name)
  return key === undefined ? { name } : { local: key }
}
