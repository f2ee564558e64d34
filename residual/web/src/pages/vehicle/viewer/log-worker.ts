/** The worker of the log viewer: it has the file and its index, and answers the page (protocol.ts). */
import messages from 'virtual:mavlink';
import type { WorkerAnswer, WorkerQuestion } from './protocol.ts';
import { NoLog, OpenLog } from './read/open-log.ts';
import type { LogFile } from './read/row-window.ts';
import { viewerWords } from './viewer-words.ts';

/** Not in the types of a page. */
declare const FileReaderSync: new () => { readonly readAsArrayBuffer: (blob: Blob) => ArrayBuffer };

const PROGRESS_MS = 100;
const CSV_CHARS = 1024 * 1024;

let log: OpenLog | null = null;

addEventListener('message', ({ data }: MessageEvent<WorkerQuestion>) => {
  try {
    tell({ id: data.id, answer: answerTo(data) });
  } catch (error) {
    // What it says of itself is no help to a person; the console has it.
    if (!(error instanceof NoLog)) console.error(error);
    tell({ id: data.id, failure: error instanceof NoLog ? error.message : viewerWords.failed });
  }
});

function answerTo(asked: WorkerQuestion): unknown {
  if (asked.kind === 'open') {
    log = OpenLog.open(fileOf(asked.file), messages, progress());
    return log.summary;
  }
  if (log === null) throw new NoLog(viewerWords.failed);
  const open = log;
  switch (asked.kind) {
    case 'points':
      return asked.fields.map((id) => open.points(id, asked.from, asked.to, asked.buckets));
    case 'values':
      return open.values(asked.fields, asked.at);
    case 'report':
      return open.report();
    case 'track':
      return open.track();
    case 'csv':
      return csvOf(open.csv(asked.fields, asked.from, asked.to));
  }
}

/** The browser holds the file, on its disk where it is large; a part of it is read at a time. */
function fileOf(file: Blob): LogFile {
  const reader = new FileReaderSync();
  return {
    size: file.size,
    read: (into, position) => {
      const part = new Uint8Array(reader.readAsArrayBuffer(file.slice(position, position + into.length)));
      into.set(part);
      return part.length;
    },
  };
}

function csvOf(lines: Iterable<string>): Blob {
  const parts: Blob[] = [];
  let text = '';
  for (const line of lines) {
    text += line;
    if (text.length < CSV_CHARS) continue;
    parts.push(new Blob([text]));
    text = '';
  }
  return new Blob([...parts, text], { type: 'text/csv' });
}

function progress(): (done: number) => void {
  let told = performance.now();
  return (done) => {
    const now = performance.now();
    if (now - told < PROGRESS_MS) return;
    told = now;
    tell({ done });
  };
}

function tell(news: WorkerAnswer<unknown>): void {
  postMessage(news, { transfer: [] });
}
