import { loadConfig } from '../../shared/config/load.ts';
import type { Paths } from '../../shared/paths.ts';
import type { Asker } from '../client/local-client.ts';
import { auditFiles, auditOfNode } from './audit.ts';
import { type Check, guarded, skip } from './check.ts';
import { checkFiles, readableConfig } from './files.ts';
import { logStoreFile } from './log-store.ts';
import { checkMachine } from './machine.ts';
import { askNode, checkAnswer, checkLogStore, checkPage } from './node.ts';
import { portIsFree, portIsOurs } from './port.ts';
import { checkSockets } from './sockets.ts';
import { temperatureCheck } from './temperature.ts';

/** All checks of `svc doctor`, in the order of the output. */
export async function examine(paths: Paths, api: Asker): Promise<readonly Check[]> {
  const [machine, files, sockets, answer] = await Promise.all([
    checkMachine(),
    checkFiles(paths),
    checkSockets(paths),
    askNode(api, paths.controlSocket),
  ]);
  const { status } = answer;
  const rest = await Promise.all([
    guarded('API port', async () => {
      if (answer.status !== null)
        return portIsOurs(await portInForce(api), await api('GET /api/pairing/info'));
      if (answer.why === 'closed to you')
        return skip('API port', 'Only the node can tell who uses it. Use sudo.');
      await readableConfig(paths);
      return portIsFree((await loadConfig(paths)).config.api.port);
    }),
    guarded('audit', async () => auditFiles(paths)),
    ...(status === null ? [] : [guarded('audit of the node', async () => auditOfNode(api))]),
    guarded('log store', async () => (status === null ? logStoreFile(paths.logStore) : checkLogStore(api))),
    ...(status === null ? [] : [guarded('page', async () => checkPage(api))]),
  ]);
  return [...machine, ...files, ...sockets, ...checkAnswer(answer), ...rest];
}

async function portInForce(api: Asker): Promise<number> {
  const { api: section } = await api('GET /api/config');
  return section.port;
}

/** The checks of a node on another machine: only those that the node answers itself. */
export async function examineRemote(api: Asker): Promise<readonly Check[]> {
  const answer = await askNode(api, null);
  const here = skip('machine and files', 'They are on the other machine; run svc doctor there.');
  if (answer.status === null) return [here, ...checkAnswer(answer)];
  return [
    here,
    ...checkAnswer(answer),
    temperatureCheck(answer.status.health.temperature),
    await guarded('log store', async () => checkLogStore(api)),
    await guarded('page', async () => checkPage(api)),
  ];
}
