/** The program that svc-control starts for a support bundle of its own node: writes the archive to the standard output. */
import { pipeline } from 'node:stream/promises';
import { pathsFrom } from '../../shared/paths.ts';
import { bundleOf } from './collector.ts';

await pipeline(bundleOf(pathsFrom(process.env)), process.stdout);
