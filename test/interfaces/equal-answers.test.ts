/** The engine's own operations through library, command line, HTTP and MCP: the same answers. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { sameEverywhere } from './equal-everywhere.ts'
import { scenario } from './scenario.ts'

sameEverywhere({
  embedder: 'none',
  steps(root) {
    const docs = join(root, 'docs')
    mkdirSync(docs)
    writeFileSync(join(docs, 'decay.md'), '# Decay\n\nMemory fades.\n\n## Numbers\n\nIts half life is seven days.\n')
    writeFileSync(join(docs, 'kernel.md'), '# Kernel\n\nThe kernel scans the signs of vectors.\n')
    return scenario(docs)
  },
})
