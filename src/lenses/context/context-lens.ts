/** The lens `context`: a code base as concepts, their links and the files they come from. */
import type { Lens } from '../lens.ts'
import { checkTables, READINGS } from './doctor.ts'
import { CONTEXT_OPERATIONS } from './operations.ts'
import { contextOptions } from './query/request.ts'
import { contextStages } from './query/stages.ts'
import { readErrorProblem } from './read-notes.ts'
import { checkSettings } from './settings.ts'
import { CONTEXT_TABLES, LINKS } from './tables.ts'

export function contextLens(): Lens {
  return {
    name: 'context',
    summary: 'Concepts of a code base by name and meaning, with their neighbours, files and links',
    syntax: 'plain',
    options: contextOptions,
    stages: contextStages,
    tables: CONTEXT_TABLES,
    linkIndexes: [LINKS],
    operations: CONTEXT_OPERATIONS,
    settings: checkSettings,
    check: function* (reader) {
      const problems = (yield* checkTables(reader)).map(message => ({ message, help: null }))
      const note = yield* readErrorProblem(reader)
      return note === null ? problems : [...problems, { message: note, help: null, isNote: true }]
    },
    repairs: [READINGS],
  }
}
