// `npm test`: the checks, the tests, the package check. The last line counts the tests and one for each check. With
// arguments it runs only the tests they select (`npm test -- test/unit/model`).
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { runBounded } from './run-bounded.ts'
import { afterTests, beforeTests, printStatus, root, runStep, type Step } from './steps.ts'

interface Count {
  readonly passed: number
  readonly failed: number
  readonly skipped: readonly string[]
}

/** The part of vitest's JSON report that is read here. */
interface Report {
  readonly testResults: readonly {
    readonly name: string
    readonly status: string
    readonly assertionResults: readonly { readonly status: string; readonly fullName: string }[]
  }[]
}

/** Three times what they take on two cores; runs in full (QUERENT_LONG) take hours. */
const MOST_MS = process.env['QUERENT_LONG'] === '1' ? 2 ** 31 - 1 : 60 * 60_000

const selection = process.argv.slice(2)
const isWhole = selection.length === 0
const before = isWhole ? runSteps(beforeTests) : none()
const tests = await runTests(selection)
const after = isWhole ? runSteps(afterTests) : none()
closeWith([before, tests, after])

function closeWith(counts: readonly Count[]): void {
  const passed = counts.reduce((sum, count) => sum + count.passed, 0)
  const failed = counts.reduce((sum, count) => sum + count.failed, 0)
  const skipped = counts.flatMap(count => count.skipped)
  for (const name of skipped) console.log(`skipped: ${name}`)
  if (skipped.length > 0) console.log(`${skipped.length} skipped, named above`)
  console.log(`${passed} passed, ${failed} failed`)
  process.exitCode = failed > 0 ? 1 : 0
}

function runSteps(steps: readonly Step[]): Count {
  const results = steps.map(runStep)
  return { ...none(), passed: results.filter(Boolean).length, failed: results.filter(passed => !passed).length }
}

function none(): Count {
  return { passed: 0, failed: 0, skipped: [] }
}

async function runTests(args: readonly string[]): Promise<Count> {
  const folder = mkdtempSync(join(tmpdir(), 'querent-test-'))
  const file = join(folder, 'report.json')
  const begin = performance.now()
  const slow = join(root, 'scripts/slow-reporter.ts')
  const reporters = ['--reporter=default', `--reporter=${slow}`, '--reporter=json', `--outputFile.json=${file}`]
  const vitest = join(root, 'node_modules/vitest/vitest.mjs')
  const bounds = { cwd: root, mostMs: MOST_MS }
  const status = await runBounded(process.execPath, [vitest, 'run', ...reporters, ...args], bounds)
  const count = countTests(readReport(file), status === 0)
  rmSync(folder, { recursive: true })
  printStatus('tests', count.failed === 0, performance.now() - begin)
  return count
}

function readReport(file: string): Report {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    return { testResults: [] } // vitest did not get so far; its own message stands above
  }
}

/** A file that cannot be loaded holds no failed test, and an error outside of any test none either: each counts as one. */
function countTests({ testResults }: Report, exitedWell: boolean): Count {
  const all = testResults.flatMap(({ name, assertionResults }) =>
    assertionResults.map(({ status, fullName }) => ({ status, name: `${relative(root, name)}: ${fullName}` })),
  )
  const failedTests = all.filter(test => test.status === 'failed').length
  const brokenFiles = testResults.filter(
    file => file.status === 'failed' && !file.assertionResults.some(test => test.status === 'failed'),
  ).length
  const passed = all.filter(test => test.status === 'passed').length
  const failed = failedTests + brokenFiles
  const unexplained = failed === 0 && (!exitedWell || passed === 0)
  const skipped = all.filter(test => test.status !== 'passed' && test.status !== 'failed').map(test => test.name)
  return { passed, failed: unexplained ? 1 : failed, skipped }
}
