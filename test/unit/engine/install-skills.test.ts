import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { agentDays } from '../../../src/lenses/collections/request.ts'
import { installSkills } from '../../../src/openings/skills.ts'
import { tempFolder } from '../../support/temp-folder.ts'

const SKILL = '.claude/skills/chroma-query/SKILL.md'
const AGENT = '.claude/agents/chroma-agent.md'

describe('installing skills', () => {
  it('places them in an empty folder, once (CO-057, CO-060, CO-070)', () => {
    using folder = tempFolder()
    expect(installSkills({ folder: folder.path })).toEqual({ written: [AGENT, SKILL], unchanged: [], kept: [] })
    expect(installSkills({ folder: folder.path })).toEqual({ written: [], unchanged: [AGENT, SKILL], kept: [] })
    expect([AGENT, SKILL].every(path => existsSync(join(folder.path, path)))).toBe(true)
  })

  it('leaves a changed file alone unless forced (CO-070)', () => {
    using folder = tempFolder()
    installSkills({ folder: folder.path })
    writeFileSync(join(folder.path, SKILL), 'mine')
    expect(installSkills({ folder: folder.path })).toEqual({ written: [], unchanged: [AGENT], kept: [SKILL] })
    expect(readFileSync(join(folder.path, SKILL), 'utf8')).toBe('mine')
    expect(installSkills({ folder: folder.path, force: true }).written).toEqual([SKILL])
  })

  it('puts one language in the place of the other', () => {
    using folder = tempFolder()
    installSkills({ folder: folder.path })
    expect(installSkills({ folder: folder.path, lang: 'en' }).written).toEqual([AGENT, SKILL])
  })
})

describe('installing the command of c64', () => {
  it('places it once, and leaves a changed one alone (EN-075)', () => {
    using folder = tempFolder()
    const COMMAND = '.claude/commands/query-c64.md'
    const request = { folder: folder.path, lens: 'c64' } as const
    expect(installSkills(request)).toEqual({ written: [COMMAND], unchanged: [], kept: [] })
    expect(installSkills(request).unchanged).toEqual([COMMAND])
    expect(readFileSync(join(folder.path, COMMAND), 'utf8')).toContain('querent c64 --limit 4')
    writeFileSync(join(folder.path, COMMAND), 'mine')
    expect(installSkills(request).kept).toEqual([COMMAND])
    expect(installSkills({ ...request, force: true }).written).toEqual([COMMAND])
  })
})

it('says which file it cannot read (CO-070)', () => {
  using folder = tempFolder()
  mkdirSync(join(folder.path, AGENT), { recursive: true })
  expect(() => installSkills({ folder: folder.path })).toThrow(/^cannot read .*chroma-agent\.md: /)
})

describe.each(['es', 'en'] as const)('the files in %s', lang => {
  const [skill, agent] = shipped(lang)

  it('have front matter that assistants find them by (CO-057, CO-061)', () => {
    const about = frontMatter(skill)
    expect(about['name']).toBe('chroma-query')
    expect(about['description']).toContain('/chroma-query')
    expect(frontMatter(agent)).toMatchObject({ name: 'chroma-agent', tools: expect.stringContaining('Bash') })
    expect(String(frontMatter(agent)['description']).length).toBeGreaterThan(40)
  })

  it('document use, parameters, process, layout and rules of the skill (CO-058)', () => {
    const headings = {
      es: ['Uso', 'Parámetros', 'Proceso', 'Importante'],
      en: ['Usage', 'Parameters', 'Process', 'Important'],
    }
    for (const heading of headings[lang]) expect(skill).toContain(`\n## ${heading}\n`)
    const rules = {
      es: ['Ejecuta siempre', 'nunca inventes', 'similitud, de 0 a 1', 'Cita las fuentes con su score'],
      en: ['Always run', 'never invent', 'similarity, from 0 to 1', 'Cite sources with their score'],
    }
    for (const rule of rules[lang]) expect(skill).toContain(rule)
    expect(skill).toMatch(lang === 'es' ? /Muestra su salida tal cual/ : /Show its output unchanged/)
    expect(skill).toMatch(lang === 'es' ? /términos más generales, quitar el filtro/ : /broader terms, no day filter/)
    for (const line of FIRST_LINES[lang]) expect(skill).toContain(line)
    expect(skill).toMatch(/items, analysis\./)
    for (const row of ['| --days |', '| --collection | both |', '| --n-results | 5 |', '| --lang | auto |']) {
      expect(skill).toContain(row)
    }
  })

  it('give the agent its sections, its rules and its day rule (CO-062, CO-063, CO-065, CO-066, CO-067, CO-068)', () => {
    const sections = {
      es: ['Resumen', 'Hallazgos principales', 'Fuentes', '¿Quieres saber más?'],
      en: ['Summary', 'Main findings', 'Sources', 'Want to know more?'],
    }[lang]
    const places = sections.map(section => agent.indexOf(`\n## ${section}\n`))
    expect(places.every(place => place > 0)).toBe(true)
    expect([...places].sort((a, b) => a - b)).toEqual(places)
    expect(agent).toContain('--days 7')
    expect(agent).toContain('--days 30')
    expect(agent).toMatch(lang === 'es' ? /conserva su filtro de días/ : /keep its day filter/)
    const rules = {
      es: [
        /nunca inventes/,
        /\*\*Cita siempre las fuentes\*\*, con su score/,
        /otros términos, quitar el filtro/,
      ].concat([
        ...[/\*\*Mantén el contexto\*\*/, /\*\*Termina ofreciendo seguimiento\*\*/, /términos más concretos, o amplía/],
        ...[/con el mensaje de error/, /`querent status`/, /Ofrece otra búsqueda, o buscar a mano/],
      ]),
      en: [/never invent/, /\*\*Always cite sources\*\*, with their score/, /other terms, no day filter/].concat([
        ...[/\*\*Keep the context\*\*/, /\*\*End by offering follow-ups\*\*/, /narrower terms, or expand/],
        ...[/with the error message/, /`querent status`/, /Offer another search, or to look/],
      ]),
    }
    for (const rule of rules[lang]) expect(agent).toMatch(rule)
    const [findings = ''] = agent.slice(places[1]).split('\n## ')[1]?.split('\n').slice(1) ?? []
    expect(findings).toMatch(/^- /)
    const [, first = '', followUp = ''] = agent.split(/querent collections "[^"]+"/)
    expect(agent.split('--days 7').length).toBeGreaterThan(3) // the rule, the first question and its follow-up
    expect([first.slice(0, 9), followUp.slice(0, 9)]).toEqual([' --days 7', ' --days 7'])
  })

  it('follow their own day rule in the example (CO-062, CO-064)', () => {
    const [, question = ''] = /(?:Usuario|User): (.+)/.exec(agent) ?? []
    const [, days] = /querent collections "[^"]+" --days (\d+)/.exec(agent) ?? []
    expect(agentDays(question)).toBe(Number(days))
  })
})

/** Of an answer, as the skill shows them. */
const FIRST_LINES = {
  es: ['## Resumen', '## Fuentes (N resultados)', '## Detalles', '1. **Título** - fecha - score: X.XX'],
  en: ['## Summary', '## Sources (N results)', '## Details', '1. **Title** - date - score: X.XX'],
} as const

function shipped(lang: 'es' | 'en'): readonly [string, string] {
  using folder = tempFolder()
  installSkills({ folder: folder.path, lang })
  return [readFileSync(join(folder.path, SKILL), 'utf8'), readFileSync(join(folder.path, AGENT), 'utf8')]
}

function frontMatter(text: string): Record<string, unknown> {
  const [, yaml = ''] = /^---\n([\s\S]*?)\n---\n/.exec(text) ?? []
  return parse(yaml) as Record<string, unknown>
}
