/** Reads TypeScript and JavaScript. What is in comments, strings and templates declares nothing. */
import type { Draft } from '../draft.ts'
import { NONE, type SyntaxTree } from '../syntax-tree.ts'
import { exportedName } from './common-js.ts'
import { declareAll } from './declare.ts'
import { referAll } from './refer.ts'
import { ScriptFile } from './script-file.ts'
import { shapeAll } from './shapes.ts'
import { ScriptValues } from './values.ts'

export function readScript(draft: Draft, tree: SyntaxTree): void {
  const file = new ScriptFile(draft, tree)
  collectExportedNames(file)
  declareAll(file)
  const values = new ScriptValues(file)
  referAll(file, values)
  shapeAll(file, values)
}

/** Names exported apart from their declaration: they make a constant a concept, wherever in the file they stand. */
function collectExportedNames(file: ScriptFile): void {
  const { tree } = file
  for (const statement of tree.children(0)) {
    file.draft.step()
    if (tree.kind(statement) === 'export_statement') collectFromExport(file, statement)
    const assignment = tree.childOf(statement, 'assignment_expression')
    const left = tree.child(assignment, 'left')
    if (left === NONE || tree.kind(left) !== 'member_expression' || exportedName(file, left) === null) continue
    const right = tree.child(assignment, 'right')
    if (tree.kind(right) === 'identifier') file.exportedNames.add(file.text(right))
    for (const part of tree.kind(right) === 'object' ? tree.children(right) : []) {
      if (tree.kind(part) === 'shorthand_property_identifier') file.exportedNames.add(file.text(part))
      const value = tree.child(part, 'value')
      if (value !== NONE && tree.kind(value) === 'identifier') file.exportedNames.add(file.text(value))
    }
  }
}

function collectFromExport(file: ScriptFile, statement: number): void {
  const { tree } = file
  if (tree.child(statement, 'source') !== NONE) return
  const value = tree.child(statement, 'value')
  if (value !== NONE && tree.kind(value) === 'identifier') file.exportedNames.add(file.text(value))
  const assigned = tree.childOf(statement, ':=') === NONE ? NONE : file.inside(statement)
  if (assigned !== NONE && tree.kind(assigned) === 'identifier') file.exportedNames.add(file.text(assigned))
  for (const specifier of tree.children(tree.childOf(statement, 'export_clause'))) {
    const name = tree.child(specifier, 'name')
    if (name !== NONE) file.exportedNames.add(file.text(name))
  }
}
