/** Querent beside other engines: made from the figures of `npm run peers` alone. */
import type { PeerFigures, PeersReport } from '../peers/lib/figures.ts'
import { COMPARISONS, type Comparison, isComparable, type Verdict, verdictsOf } from './peers-verdicts.ts'
import { WHAT_WE_DO } from './peers-words.ts'

/** The tables of the largest set. */
export function peersSummary(report: PeersReport): readonly string[] {
  const { commit, target, peers } = report
  const rows = Math.max(...peers.map(peer => peer.rows))
  return [
    '## Peers',
    '',
    `Each engine gets the same generated rows, filters and queries, in a process of its own (commit ${commit}). Vectors have 384 dimensions, texts`,
    `65 words, answers ten results. A peer whose settings trade recall for time was tuned to a recall of ${target}. Cells are milliseconds, p50 with p99 in`,
    'brackets; *recall* where it is not 1.00. **lost** marks a cell where a comparable peer is more than 5 % ahead. † is not comparable: it misses the',
    'recall, answers another query, or was wrong. [The figures](../bench/figures.md#peers) have settings, and the reasons for what is lost.',
    '',
    ...tablesOf(
      peers.filter(peer => peer.rows === rows),
      rows,
    ),
  ]
}

export function peersSection(report: PeersReport): readonly string[] {
  const { machine, commit, target, peers, missing } = report
  const sizes = [...new Set(peers.map(({ rows }) => rows))].sort((a, b) => b - a)
  return [
    '## Peers',
    '',
    '`npm run peers` (bench/peers: a package file of its own, so nobody who installs querent installs them). The same rows, filters and',
    'questions for all, generated: vectors of 384 dimensions, texts of 65 words, ten results. Each peer has a process of its own; they take',
    `turns, ten questions each in random order, one at work at a time. Where a peer has a setting that buys recall with time, it was raised,`,
    `again for each kind of filter, until ${target} of the right answers were found on other questions than those measured. Every question was`,
    'asked once before, but in the column that says so. Milliseconds, p50 with p99 in brackets; *recall* where it is not 1.00.',
    '',
    `Machine: ${machine.cores} cores, ${machine.memoryGiB} GiB, Node ${machine.node}, load ${machine.load}; commit ${commit}. Only alike is compared: answers of ids and scores with the`,
    `indexes alone, answers with texts with whole questions, which show nobody what is not theirs, explain themselves and count each use on disk.`,
    'A cell is marked as lost where a peer that reaches the recall is more than 5 % quicker (smaller) than Querent is.',
    '† does not compete there: it misses the recall, answers another question (less than a quarter of what FTS5 finds best), or was wrong.',
    '',
    ...sizes.flatMap(rows =>
      tablesOf(
        peers.filter(peer => peer.rows === rows),
        rows,
      ),
    ),
    ...lostRows(report, sizes),
    ...settings(peers),
    ...absent(missing),
  ]
}

function tablesOf(peers: readonly PeerFigures[], rows: number): readonly string[] {
  const groups = [...new Set(COMPARISONS.map(({ table }) => table))]
  return groups.flatMap(table => {
    const columns = COMPARISONS.filter(comparison => comparison.table === table)
    const having = peers.filter(peer => columns.some(column => column.value(peer) !== null))
    if (having.length === 0) return []
    return [
      `### ${table}: ${rows.toLocaleString('en')} rows`,
      '',
      `| | ${columns.map(({ name }) => name).join(' | ')} |`,
      `| --- |${columns.map(() => ' --- |').join('')}`,
      ...(['texts', 'ids'] as const).flatMap(holds => {
        const alike = having.filter(peer => peer.holds === holds)
        return alike.map(peer => `| ${named(peer)} | ${columns.map(column => cell(column, peer, alike)).join(' | ')} |`)
      }),
      '',
    ]
  })
}

function named({ name, holds }: PeerFigures): string {
  return `${name.startsWith('Querent') ? `**${name}**` : name}${holds === 'ids' ? ' (ids)' : ''}`
}

function cell(column: Comparison, peer: PeerFigures, alike: readonly PeerFigures[]): string {
  const value = column.value(peer)
  if (value === null) return column.none ?? 'has none'
  const verdict = verdictsOf(alike).find(one => one.comparison === column)
  const isLost = peer.name.startsWith('Querent') && verdict?.lostTo !== undefined
  const shown = `${column.show(peer)}${isComparable(column, peer) ? '' : ' †'}`
  return isLost ? `${shown} **lost**` : shown
}

function lostRows({ peers }: PeersReport, sizes: readonly number[]): readonly string[] {
  const lost = sizes.flatMap(rows =>
    (['texts', 'ids'] as const).flatMap(holds =>
      verdictsOf(peers.filter(peer => peer.rows === rows && peer.holds === holds))
        .filter(verdict => verdict.lostTo !== undefined)
        .map(verdict => ({ rows, holds, verdict })),
    ),
  )
  if (lost.length === 0) return ['### What is lost', '', 'No row.', '']
  const topics = [...new Set(lost.map(({ verdict }) => verdict.comparison.topic))]
  return [
    '### What is lost, and what we do about it',
    '',
    ...topics.flatMap(topic => [
      `- **${topic}**: ${WHAT_WE_DO[topic]}`,
      ...lost
        .filter(({ verdict }) => verdict.comparison.topic === topic)
        .map(({ rows, holds, verdict }) => `  - ${sentence(verdict, holds, rows)}`),
    ]),
    '',
  ]
}

function sentence({ comparison, ours, lostTo }: Verdict, holds: string, rows: number): string {
  const { name, value } = lostTo as { name: string; value: number }
  return `${comparison.table}, ${comparison.name}, ${rows.toLocaleString('en')} rows, ${holds}: ${(ours / value).toFixed(1)} times that of ${name}`
}

function settings(peers: readonly PeerFigures[]): readonly string[] {
  const names = [...new Set(peers.map(({ name }) => name))]
  const rows = names.map(name => peers.find(peer => peer.name === name) as PeerFigures)
  return [
    '### Settings',
    '',
    '| Peer | Version | Its settings, what its time includes | What an update is | Setting that reached the recall |',
    '| --- | --- | --- | --- | --- |',
    ...rows.map(
      peer => `| ${peer.name} | ${peer.version} | ${peer.settings} | ${peer.durability} | ${knobsOf(peer)} |`,
    ),
    '',
  ]
}

/** Each setting with the questions it was enough for. */
function knobsOf({ nearest }: PeerFigures): string {
  const scenarios = Object.entries(nearest).filter(([, answered]) => answered?.knob != null)
  const knobs = [...new Set(scenarios.map(([, answered]) => answered?.knob))]
  if (knobs.length <= 1) return knobs.map(knob => `${knob}, for all`).join('')
  return knobs
    .map(knob => `${knob}: ${scenarios.flatMap(([name, one]) => (one?.knob === knob ? [name] : [])).join('; ')}`)
    .join('<br>')
}

function absent(missing: PeersReport['missing']): readonly string[] {
  if (missing.length === 0) return []
  return ['### Not measured', '', ...missing.map(({ name, why }) => `- ${name}: ${why}`), '']
}
