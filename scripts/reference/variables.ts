/** Variables of the environment that Querent reads, apart from those of the settings of lenses. */
import { limitSettings } from '../../src/engine/options.ts'

/** A number each; `config.json` has the same by its own names. */
const limits = Object.entries(limitSettings.shape)
  .filter(([name]) => name !== 'enabled')
  .map(([name, setting]): [string, string, string, string] => {
    const usual = setting.meta()?.['default'] ?? 'any number'
    return [`QUERENT_LIMITS_${name.toUpperCase()}`, 'whole number', String(usual), `\`limits.${name}\``]
  })

/** name, what it is, default, what it sets. A test compares the names with those that the sources read. */
export const VARIABLES: readonly (readonly [string, string, string, string])[] = [
  ['QUERENT_HOME', 'path', '`.querent` here or above', 'The folder of the store'],
  ['QUERENT_VIEWER', 'text', 'the local owner', 'Makes the process this agent’s; `--viewer` cannot change it then'],
  ['QUERENT_NOW', 'ISO 8601 with zone', 'the clock', 'The moment that counts as now'],
  ['QUERENT_LENS', 'text', '`default`', '`default_lens`'],
  ['QUERENT_EMBEDDER', '`local`, `openai`, `ollama`, `none`', '`local`', '`embedder.provider`'],
  ['QUERENT_EMBEDDER_URL', 'text', 'the provider’s own', '`embedder.baseUrl`'],
  ['QUERENT_EMBEDDER_MODEL', 'text', 'none', '`embedder.model`'],
  ['QUERENT_EMBEDDER_FOLDER', 'path, from the home', 'the built-in model', '`embedder.folder`'],
  ['QUERENT_MULTILINGUAL_FOLDER', 'path, from the home', 'none', '`multilingual`'],
  ['QUERENT_DURABILITY', '`normal`, `full`', '`normal`', '`durability`'],
  ['QUERENT_LIMITS', '`on`, `off`', '`on`', '`limits.enabled`'],
  ...limits,
  ['QUERENT_CHROMA_URL', 'address', 'none', 'The ChromaDB server that `collections` asks and `mirror` fills'],
  ['QUERENT_CHROMA_TENANT', 'text', 'the server’s own', 'Its tenant'],
  ['QUERENT_CHROMA_DATABASE', 'text', 'the server’s own', 'Its database'],
  ['QUERENT_CHROMA_TOKEN', 'text', 'none', 'Its token'],
  ['QUERENT_QDRANT_URL', 'address', 'none', 'The Qdrant server that `mirror` fills'],
  ['QUERENT_QDRANT_API_KEY', 'text', 'none', 'Its key'],
  ['QUERENT_DEBUG', 'anything', 'unset', 'Shows the stack of an error'],
  ['NO_COLOR', 'anything', 'unset', 'Never colours'],
  ['FORCE_COLOR', 'anything but `0`', 'unset', 'Always colours'],
]
