/**
 * What rustc says of calls: the oracle for Rust of `test/quality/linked-languages.test.ts`. It reads the intermediate code (MIR) of a crate that
 * needs no other one; the flags that write the places of calls into it are unstable. Code that is left out by a `cfg` is not in it.
 */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** `<file>#<function>` -> what it calls, as `function` and as `Type::method`, where the type may be a trait. */
export function rustCalls(crate: string, output: string): ReadonlyMap<string, ReadonlySet<string>> {
  const manifest = readFileSync(join(crate, 'Cargo.toml'), 'utf8')
  const edition = /^edition = "(\d+)"/m.exec(manifest)?.[1] ?? '2015'
  const kind = ['--crate-type', 'lib', '--crate-name', 'crate_read', '--edition', edition, '--cap-lints', 'allow']
  const features = ['default', 'std', 'alloc'].flatMap(name => ['--cfg', `feature="${name}"`])
  const shape = ['-Zmir-opt-level=0', '-Zmir-include-spans=on', '-Ztrim-diagnostic-paths=off']
  execFileSync('rustc', [...kind, ...features, ...shape, `--emit=mir=${output}`, 'src/lib.rs'], {
    cwd: crate,
    env: { ...process.env, RUSTC_BOOTSTRAP: '1' },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const calls = new Map<string, Set<string>>()
  let name = ''
  for (const line of readFileSync(output, 'utf8').split('\n')) {
    const head = /^(?:const )?(?:unsafe )?fn (.+?)\(/.exec(line)?.[1]
    // Those of closures belong to the function around.
    if (head !== undefined) name = head.replace(/(?:::\{closure#\d+\})+$/, '').replace(/.*::/, '')
    const file = /\/\/ .*?\bat (src\/[\w/-]+\.rs):\d+:/.exec(line)?.[1]
    if (file === undefined) continue
    const called = calls.get(`${file}#${name}`) ?? new Set<string>()
    calls.set(`${file}#${name}`, called)
    const callee = /^\s+(?:_\d+|\(.*?\)) = (.+?)\((?:(?:move|copy|const) .*)?\) -> (?:\[|unwind)/.exec(line)?.[1]
    for (const form of callee === undefined ? [] : formsOf(callee)) called.add(form)
  }
  return calls
}

/** Of `<Type as Trait>::method` with type and trait. */
function formsOf(callee: string): string[] {
  const [, type, trait, method] = /^<(.+?) as (.+)>::(\w+)(?:::<.*>)?$/.exec(callee) ?? []
  const paths =
    type === undefined
      ? [callee]
      : [`${type.replace(/^&\s*(?:'\w+ )?(?:mut )?/, '')}::${method}`, `${trait}::${method}`]
  return paths.flatMap(path => {
    const parts = withoutArguments(path).split('::').filter(Boolean)
    return [parts.slice(-1).join('::'), parts.slice(-2).join('::')]
  })
}

/** Without what is between `<` and `>`. */
function withoutArguments(path: string): string {
  let [plain, depth] = ['', 0]
  for (const sign of path.replaceAll('->', '')) {
    if (sign === '<') depth++
    else if (sign === '>') depth--
    else if (depth === 0) plain += sign
  }
  return plain
}
