/** The STUN and TURN servers in an answer of WHEP: `<turn:…>; rel="ice-server"; username="…"; credential="…"` (RFC 9725 4.6). */

const LINK = /<((?:stun|turn)s?:[^>]+)>((?:\s*;\s*[a-z-]+=(?:"(?:[^"\\]|\\.)*"|[^",;\s]+))*)/g;
const PARAMETER = /;\s*([a-z-]+)=(?:"((?:[^"\\]|\\.)*)"|([^",;\s]+))/g;

/** @param link the header; null without one */
export function iceServersOf(link: string | null): RTCIceServer[] {
  return [...(link ?? '').matchAll(LINK)].flatMap(([, urls = '', rest = '']) => {
    const parameters = new Map(
      [...rest.matchAll(PARAMETER)].map(([, name, quoted, plain]) => [
        name,
        quoted?.replace(/\\(.)/g, '$1') ?? plain ?? '',
      ]),
    );
    if (parameters.get('rel') !== 'ice-server') return [];
    const [username, credential] = [parameters.get('username'), parameters.get('credential')];
    return [
      { urls, ...(username === undefined || credential === undefined ? {} : { username, credential }) },
    ];
  });
}
