import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/**
 * Files that take longest, because they start many processes: begun last, one worker would end with them while the other waits.
 * What builds the package goes before what looks at its pages.
 */
const SLOW = ['package/', 'doors/beliefs-everywhere', '-equal-answers', 'doors/equal-', 'explorer/', '-cli.test']

class SlowFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const placeOf = ({ moduleId }: TestSpecification) => {
      const place = SLOW.findIndex(part => moduleId.includes(part))
      return place === -1 ? SLOW.length : place
    }
    return sorted.toSorted((a, b) => placeOf(a) - placeOf(b))
  }
}

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // For a machine that is four times busier than this one.
    testTimeout: 60_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 20_000 } },
    // Two cores are what the smallest machine has; more workers only take memory (each may load the model).
    maxWorkers: 2,
    sequence: { sequencer: SlowFirst },
  },
})
