/**
 * Imported before a program. Appends the URL of each module that the program loads to the file that MODULES names, each text of SQL that it
 * runs, on one line, to the file that STATEMENTS names, and a line for each thread that it starts to the file that THREADS names. With
 * PAUSES, each look at the clock of `performance` is 25 ms later than the one before, so that all work in steps pauses after each step.
 */
import { subscribe } from 'node:diagnostics_channel'
import { appendFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { DatabaseSync, StatementSync } from 'node:sqlite'

function appendTo(variable: string, line: string): void {
  const file = process.env[variable]
  if (file !== undefined) appendFileSync(file, `${line}\n`)
}

if (process.env['PAUSES'] !== undefined) {
  const now = performance.now.bind(performance)
  let looks = 0
  performance.now = () => now() + 25 * looks++
}

subscribe('worker_threads', () => appendTo('THREADS', 'thread'))

registerHooks({
  load: (url, context, next) => {
    appendTo('MODULES', url)
    return next(url, context)
  },
})

for (const name of ['run', 'get', 'all', 'iterate'] as const) {
  const original = StatementSync.prototype[name] as (this: StatementSync, ...values: unknown[]) => unknown
  const counted = function (this: StatementSync, ...values: unknown[]): unknown {
    appendTo('STATEMENTS', this.sourceSQL.replace(/\s+/g, ' '))
    return original.apply(this, values)
  }
  Object.defineProperty(StatementSync.prototype, name, { value: counted })
}

const { exec } = DatabaseSync.prototype
DatabaseSync.prototype.exec = function (sql) {
  appendTo('STATEMENTS', sql.replace(/\s+/g, ' '))
  exec.call(this, sql)
}
