/**
 * Reads the languages of which definitions, containment, calls within the file and imports are told. Names are resolved in
 * the file alone: what a name means elsewhere takes each language's own rules.
 */
import type { Language } from '../concept.ts'
import type { Draft } from '../draft.ts'
import type { SyntaxTree } from '../syntax-tree.ts'
import { referCalls } from './calls.ts'
import { declareAll } from './declare.ts'
import { DefinitionsFile } from './definitions-file.ts'

export function readDefinitions(draft: Draft, tree: SyntaxTree, language: Language): void {
  const file = new DefinitionsFile(draft, tree, language)
  declareAll(file)
  referCalls(file)
  file.doLater()
  for (const [name, key] of [...file.types, ...file.functions]) draft.exports.set(name, { local: key })
}
