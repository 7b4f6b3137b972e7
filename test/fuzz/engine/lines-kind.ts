/** Lists of JSON values, such as the lines of an export: lines changed, taken away, doubled and moved. */
import type { Json } from '../../../src/base/canonical.ts'
import { changeJson, smallerJson } from './json-kind.ts'
import type { Kind } from './kind.ts'

export function linesKind(make: readonly Json[], words: readonly string[]): Kind<readonly Json[]> {
  return {
    make: chance => Array.from({ length: chance.size(6) }, () => chance.pick(make)),
    change: (lines, chance, other) => {
      const at = chance.below(Math.max(1, lines.length))
      switch (chance.below(8)) {
        case 0:
          return lines.toSpliced(at, 1)
        case 1:
          return lines.toSpliced(at, 0, chance.pick(make))
        case 2:
          return [...lines.slice(at), ...lines.slice(0, at)]
        default:
          if (lines.length === 0) return [chance.pick(make)]
          return lines.with(at, changeJson(lines[at] as Json, chance, other[0] ?? null, words))
      }
    },
    *smaller(lines) {
      for (let size = lines.length; size >= 1; size = Math.floor(size / 2)) {
        for (let at = 0; at + size <= lines.length; at += size) yield lines.toSpliced(at, size)
      }
      for (const [at, line] of lines.entries()) for (const less of smallerJson(line)) yield lines.with(at, less)
    },
    write: lines => [...lines],
    read: written => written as readonly Json[],
  }
}
