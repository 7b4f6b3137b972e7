/** Commands about the store as a whole and the engine over it. */
import type { Command } from 'commander'
import { define, runs } from './define.ts'
import { type CommonFlags, finiteNumber, withFormat, withPlace } from './flags.ts'
import type { Cli } from './run.ts'

export function defineAdminCommands(program: Command, cli: Cli): void {
  const doctor = define(program, 'doctor', 'check that all is well', [
    ['querent doctor', 'exit code 1 when something is not'],
    ['querent doctor --repair', 'mend what can be made again from what is there'],
  ])
  withFormat(withPlace(doctor))
    .option('--repair', 'mend what can be made again, and touch nothing else')
    .option('--no-backup', 'with --repair: do not copy the store before it is written to')
  runs<[], Parameters<typeof import('./commands/care.ts').runDoctor>[1]>(doctor, cli, async flags => {
    await (await import('./commands/care.ts')).runDoctor(cli, flags)
  })

  const backup = define(program, 'backup <file>', 'copy the store into one file, also while others write', [
    ['querent backup ~/backups/notes.db', 'a copy that is a store itself'],
    ['querent backup /mnt/usb/notes.db --overwrite', 'in the place of the last one'],
  ])
  withFormat(withPlace(backup))
    .option('--overwrite', 'take the place of a backup that is there, and of no other file')
    .option('--skip-damaged', 'copy what can be read of a damaged store, and tell what was lost')
  runs<[string], Parameters<typeof import('./commands/care.ts').runBackup>[2]>(backup, cli, async (file, flags) => {
    await (await import('./commands/care.ts')).runBackup(cli, file, flags)
  })

  const bench = define(program, 'bench', 'measure this store: time a question, recall of the vector index', [
    ['querent bench --queries 200', 'with two hundred questions'],
  ])
  withFormat(withPlace(bench)).option('--queries <number>', 'how many questions to ask', finiteNumber, 50)
  runs<[], CommonFlags & { queries: number }>(bench, cli, async flags => {
    await (await import('./commands/bench.ts')).runBench(cli, flags)
  })
}
