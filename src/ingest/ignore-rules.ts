/**
 * Which paths are left out: rules of our own, then those of `.gitignore` and `.querentignore` files, the deeper file and
 * in one folder `.querentignore` deciding. A `!rule` takes back what a rule above it left out, ours included.
 */
import { readFileSync, statSync } from 'node:fs'
import { dirname, join, relative, sep } from 'node:path'
import ignore, { type Ignore } from 'ignore'

/** What nobody wants to ask about: other people's code, stores, generated text. */
const EXCLUDED = `
.git
.hg
.svn
.querent
node_modules
__pycache__
*.min.js
*.min.css
*.map
package-lock.json
npm-shrinkwrap.json
yarn.lock
pnpm-lock.yaml
Cargo.lock
composer.lock
Gemfile.lock
poetry.lock
uv.lock
go.sum
`

const RULE_FILES = ['.gitignore', '.querentignore']
/** A longer rule file is no rule file. */
const MAX_RULES = 256 * 1024

export type Verdict = 'excluded' | 'ignored' | null

interface Layer {
  /** Absolute folder that its patterns start from. */
  readonly folder: string
  readonly rules: Ignore
  readonly verdict: Exclude<Verdict, null>
}

/** The rules that hold in one folder. */
export class IgnoreRules {
  /** Outermost first. */
  readonly #layers: readonly Layer[]

  private constructor(layers: readonly Layer[]) {
    this.#layers = layers
  }

  /** Rules for a folder that is added: ours, those of the Git repository around it, its own. */
  static forRoot(root: string): IgnoreRules {
    const own = new IgnoreRules([layer(root, EXCLUDED, 'excluded')])
    const above = foldersOfRepository(root).reduce((rules, folder) => rules.inside(folder), own)
    // Who names an ignored folder means it: then only the rules below it count.
    const rules = above.verdict(root, true) === null ? above : own
    return rules.inside(root)
  }

  /** Rules for a folder further down: these and what its rule files say. */
  inside(folder: string): IgnoreRules {
    const text = RULE_FILES.map(name => readRules(join(folder, name))).join('\n')
    return text.trim() === '' ? this : new IgnoreRules([...this.#layers, layer(folder, text, 'ignored')])
  }

  /** Null: not left out. `path` is absolute. */
  verdict(path: string, isFolder: boolean): Verdict {
    for (const { folder, rules, verdict } of this.#layers.toReversed()) {
      const inside = relative(folder, path).split(sep).join('/')
      if (inside === '' || inside.startsWith('../')) continue
      const { ignored, unignored } = rules.test(isFolder ? `${inside}/` : inside)
      if (ignored) return verdict
      if (unignored) return null
    }
    return null
  }
}

function layer(folder: string, text: string, verdict: Layer['verdict']): Layer {
  return { folder, verdict, rules: ignore({ ignorecase: false, allowRelativePaths: true }).add(text) }
}

/** Folders from the repository's top down to the one above `root`; none outside a repository. */
function foldersOfRepository(root: string): readonly string[] {
  const folders: string[] = []
  for (let folder = root; ; folder = dirname(folder)) {
    if (folder !== root) folders.unshift(folder)
    if (exists(join(folder, '.git'))) return folders
    if (dirname(folder) === folder) return []
  }
}

function readRules(path: string): string {
  try {
    return statSync(path).size > MAX_RULES ? '' : readFileSync(path, 'utf8').replace(/^\ufeff/, '')
  } catch {
    return ''
  }
}

function exists(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false }) !== undefined
}
