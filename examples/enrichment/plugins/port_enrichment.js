const PORTS = { 22: 'SSH', 53: 'DNS', 80: 'HTTP', 443: 'HTTPS', 5432: 'PostgreSQL', 6379: 'Redis' }

export class PortEnrichment {
  name = 'port'
  priority = 20

  enrich({ query, numbers }) {
    const ports = numbers.filter(
      ({ decimal, sourceToken }) => decimal in PORTS && new RegExp(`(port |:)${sourceToken}\\b`, 'i').test(query),
    )
    return {
      additionalContext: ports.map(({ decimal }) => `port ${decimal} = ${PORTS[decimal]}`),
      filterTags: ports.map(({ decimal }) => `PORT ${decimal}`),
    }
  }
}
