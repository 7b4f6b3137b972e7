/** Names the files of tests that take unusually long, while they do: one that never ends would not be named otherwise. */
import { relative } from 'node:path'
import type { Reporter, TestModule } from 'vitest/node'
import { root } from './steps.ts'

const MINUTE = 60_000
const REPORT_AFTER_MINUTES = 5

export default class SlowReporter implements Reporter {
  /** When each file that has not ended was begun, by its path. */
  readonly #begun = new Map<string, number>()
  readonly #timer = setInterval(() => this.#tell(), MINUTE).unref()

  onTestModuleQueued({ moduleId }: TestModule): void {
    this.#begun.set(moduleId, performance.now())
  }

  onTestModuleEnd({ moduleId }: TestModule): void {
    this.#begun.delete(moduleId)
  }

  onTestRunEnd(): void {
    clearInterval(this.#timer)
  }

  #tell(): void {
    for (const [file, begun] of this.#begun) {
      const minutes = Math.floor((performance.now() - begun) / MINUTE)
      if (minutes >= REPORT_AFTER_MINUTES)
        console.log(`still running after ${minutes} minutes: ${relative(root, file)}`)
    }
  }
}
