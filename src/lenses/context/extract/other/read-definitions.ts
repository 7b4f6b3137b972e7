/**
 * Reads definitions, containment, calls and imports. In the languages of `LINKED` a name may mean a declaration of another
 * file; in the others names are resolved in the file alone.
 */
import type { Language } from '../concept.ts'
import type { Draft } from '../draft.ts'
import type { SyntaxTree } from '../syntax-tree.ts'
import { referCalls } from './calls.ts'
import { declareAll } from './declare.ts'
import { DefinitionsFile } from './definitions-file.ts'
import { GO } from './link-go.ts'
import { JAVA } from './link-java.ts'
import { RUST } from './link-rust.ts'
import { LinkedFile, type LinkedLanguage } from './linked.ts'

const LINKED: Partial<Record<Language, LinkedLanguage>> = { go: GO, java: JAVA, rust: RUST }

export function readDefinitions(draft: Draft, tree: SyntaxTree, language: Language): void {
  const file = new DefinitionsFile(draft, tree, language)
  declareAll(file)
  const linked = LINKED[language]
  if (linked !== undefined) {
    file.doLater()
    new LinkedFile(file, linked).run()
    return
  }
  referCalls(file)
  file.doLater()
  for (const [name, key] of [...file.types, ...file.functions]) draft.exports.set(name, { local: key })
}
