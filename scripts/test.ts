/**
 * `npm test`: checks, tests, package, one after the other. The last line counts the tests and one for each check.
 *   npm test -- --part checks              one part alone: checks, tests or package
 *   npm test -- test/unit/model            the tests under these paths, with any option of vitest
 */
import { chmodSync, mkdtempSync, readFileSync, rmSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { runBounded } from './run-bounded.ts'
import { CHECKS, printStatus, root, runChecks } from './steps.ts'

interface Count {
  readonly passed: number
  readonly failed: number
  readonly skipped: readonly string[]
  /** Which failed, and why: printed last, since CI may keep no more than the end of its output. */
  readonly failures: readonly string[]
}

/** The part of vitest's JSON report that is read here. */
interface Report {
  readonly testResults: readonly {
    readonly name: string
    readonly status: string
    /** Why the file itself could not be loaded. */
    readonly message?: string
    readonly assertionResults: readonly {
      readonly status: string
      readonly fullName: string
      readonly failureMessages?: readonly string[] | null
    }[]
  }[]
}

/** Several times what they take on two cores that others use too; runs in full (QUERENT_LONG) take hours. */
const MAX_MS = process.env['QUERENT_LONG'] === '1' ? 2 ** 31 - 1 : 60 * 60_000

/** More than the files of all tests that run at the same time. */
const MIN_BYTES = 4 * 2 ** 30

/** The parts, in their order. The package is built once, by its own tests. */
const PARTS: Readonly<Record<string, () => Promise<Count>>> = {
  checks: countChecks,
  tests: () => runTests('tests', ['--project', '!package']),
  package: () => runTests('package', ['--project', 'package']),
}

const args = process.argv.slice(2)
if (args[0] === '--part') closeWith([await partOf(args[1])()])
else if (args.length > 0) closeWith([await runTests('tests', args)])
else {
  const counts: Count[] = []
  for (const run of Object.values(PARTS)) counts.push(await run())
  closeWith(counts)
}

function partOf(name = ''): () => Promise<Count> {
  const part = PARTS[name]
  if (part !== undefined) return part
  console.error(`npm test: --part ${name}: expected one of ${Object.keys(PARTS).join(', ')}`)
  process.exit(2)
}

function closeWith(counts: readonly Count[]): void {
  const passed = counts.reduce((sum, count) => sum + count.passed, 0)
  const failed = counts.reduce((sum, count) => sum + count.failed, 0)
  const skipped = counts.flatMap(count => count.skipped)
  for (const name of skipped) console.log(`skipped: ${name}`)
  if (skipped.length > 0) console.log(`${skipped.length} skipped, named above`)
  for (const failure of counts.flatMap(count => count.failures)) console.log(`failed: ${failure}`)
  console.log(`${passed} passed, ${failed} failed`)
  process.exitCode = failed > 0 ? 1 : 0
}

async function countChecks(): Promise<Count> {
  const passed = await runChecks(CHECKS)
  const failures = CHECKS.filter((_, at) => !passed[at]).map(check => `check ${check.name}`)
  return { passed: passed.length - failures.length, failed: failures.length, skipped: [], failures }
}

async function runTests(part: string, args: readonly string[]): Promise<Count> {
  const folder = mkdtempSync(join(placeOfStores(), 'querent-test-'))
  // Some tests do without the rights of root: they must reach their own folders.
  chmodSync(folder, 0o755)
  // Also where the run is stopped: what stays in memory is missed there.
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'report.json')
  const begin = performance.now()
  const slow = join(root, 'scripts/slow-reporter.ts')
  const reporters = ['--reporter=default', `--reporter=${slow}`, '--reporter=json', `--outputFile.json=${file}`]
  const vitest = join(root, 'node_modules/vitest/vitest.mjs')
  const bounds = { cwd: root, mostMs: MAX_MS, env: { TMPDIR: folder } }
  const status = await runBounded(process.execPath, [vitest, 'run', ...reporters, ...args], bounds)
  const count = countTests(readReport(file), status === 0)
  printStatus(part, count.failed === 0, performance.now() - begin)
  return count
}

/**
 * Where the tests keep their files: in memory, where there is room. They open thousands of stores, and each waits for the disk
 * several times until it is open.
 */
function placeOfStores(): string {
  const inMemory = '/dev/shm'
  try {
    const { bavail, bsize } = statfsSync(inMemory)
    const mayRunPrograms = !/^\S+ \/dev\/shm \S+ \S*\bnoexec\b/m.test(readFileSync('/proc/mounts', 'utf8'))
    if (process.env['TMPDIR'] === undefined && mayRunPrograms && bavail * bsize >= MIN_BYTES) return inMemory
  } catch {
    // There is no such folder here.
  }
  return tmpdir()
}

function readReport(file: string): Report {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    return { testResults: [] } // vitest did not get so far; its own message is above
  }
}

/** A file that cannot be loaded holds no failed test, and an error outside of any test none either: each counts as one. */
function countTests({ testResults }: Report, exitedWell: boolean): Count {
  const all = testResults.flatMap(({ name, assertionResults }) =>
    assertionResults.map(({ status, fullName }) => ({ status, name: `${relative(root, name)}: ${fullName}` })),
  )
  const failures = testResults.flatMap(({ name, status, message, assertionResults }) => {
    const failed = assertionResults.filter(test => test.status === 'failed')
    if (status === 'failed' && failed.length === 0) return [`${relative(root, name)}\n${shortened(message)}`]
    return failed.map(test => `${relative(root, name)}: ${test.fullName}\n${shortened(test.failureMessages?.[0])}`)
  })
  const passed = all.filter(test => test.status === 'passed').length
  if (failures.length === 0 && (!exitedWell || passed === 0)) failures.push('an error outside of any test, see above')
  const skipped = all.filter(test => test.status !== 'passed' && test.status !== 'failed').map(test => test.name)
  return { passed, failed: failures.length, skipped, failures }
}

/** The message and the first places of its stack, without colours. */
function shortened(message: string | null = ''): string {
  const lines = stripVTControlCharacters(message ?? '').split('\n')
  return lines
    .slice(0, 40)
    .map(line => `    ${line.slice(0, 300)}`)
    .join('\n')
}
