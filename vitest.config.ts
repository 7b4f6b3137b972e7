import { globSync, readFileSync } from 'node:fs'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

const ALL = ['test/**/*.test.ts']
const PACKAGE = ['test/package/*.test.ts']
/** Pages whose commands and programs also run on the oldest Node that the package supports. */
const GUIDES = ['test/interfaces/guide*.test.ts']
const EXPLORER = ['test/explorer/*.test.ts']
/** The official programs that test/conformance fetches bring tests of their own. */
const ELSEWHERE = [...PACKAGE, ...EXPLORER, '**/node_modules/**']
/**
 * What a file calls that has a worker of its own. Elsewhere modules stay loaded from file to file: none may be mocked, timers that are not
 * over would stop, and which packages are loaded says nothing of one file.
 */
const OWN_WORKER = /\bvi\.(mock|useFakeTimers)\(|createRequire\(import\.meta\.url\)\.cache/
const ISOLATED = globSync(ALL, { exclude: ['**/node_modules/**'] }).filter(file =>
  OWN_WORKER.test(readFileSync(file, 'utf8')),
)

/** Files that take longest: begun last, one worker would end with them while the other waits. */
const SLOW = [
  'interfaces/nodes-processes',
  'interfaces/http-workers',
  'interfaces/add-again',
  'interfaces/chroma-cli',
  'interfaces/beliefs-everywhere',
  '-equal-answers',
  'faults/',
  'interfaces/live-processes',
  'embed/local-embedder',
  '/agreement.test',
  'vectors-near',
  'store/erase',
]

/** A worker is kept for the next file of its project alone, so the files of each come one after the other. */
class SlowFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const projects = ['explorer', 'node-22', 'isolated', 'shared']
    const placeOf = ({ moduleId, project }: TestSpecification) => {
      const place = SLOW.findIndex(part => moduleId.includes(part))
      return projects.indexOf(project.name) * (SLOW.length + 1) + (place === -1 ? SLOW.length : place)
    }
    return sorted.toSorted((a, b) => placeOf(a) - placeOf(b))
  }
}

export default defineConfig({
  test: {
    // A limit against hangs alone: what takes seconds on a quiet machine takes minutes on one that has twenty times as much to do.
    testTimeout: 600_000,
    setupFiles: ['test/support/seed.ts'],
    hookTimeout: 600_000,
    expect: { poll: { timeout: 300_000 } },
    // Two cores are what the smallest machine has. A third worker computes while tests of the others wait for processes and disks.
    maxWorkers: 3,
    sequence: { sequencer: SlowFirst },
    projects: [
      { extends: true, test: { name: 'isolated', include: ISOLATED, exclude: ELSEWHERE } },
      {
        extends: true,
        test: { name: 'shared', isolate: false, include: ALL, exclude: [...ISOLATED, ...ELSEWHERE] },
      },
      {
        extends: true,
        test: {
          name: 'explorer',
          isolate: false,
          include: EXPLORER,
          globalSetup: 'test/explorer/before-all.ts',
        },
      },
      { extends: true, test: { name: 'package', include: PACKAGE } },
      {
        extends: true,
        test: { name: 'node-22', isolate: false, include: GUIDES, env: { QUERENT_TEST_NODE: '22' } },
      },
    ],
  },
})
