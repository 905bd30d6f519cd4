// SPDX-License-Identifier: GPL-2.0
//! A transfer over a QUIC stream with quinn.
//!
//!     quinn-transfer serve ADDRESS FOLDER
//!     quinn-transfer get ADDRESS BYTES CERTIFICATE FOLDER
//!
//! FOLDER gets a qlog and, from the server, its certificate, made as it starts.

use std::io::{BufWriter, Write};
use std::net::{SocketAddr, ToSocketAddrs};
use std::sync::{Arc, Mutex};
use std::time::Instant;
use std::{env, error::Error, fs, io};

use quinn::rustls::pki_types::{pem::PemObject, CertificateDer, PrivatePkcs8KeyDer};
use quinn::rustls::RootCertStore;
use quinn::{ClientConfig, Endpoint, Incoming, ServerConfig, TransportConfig};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// A qlog, written in large pieces.
#[derive(Clone)]
struct Log(Arc<Mutex<BufWriter<fs::File>>>);

impl Write for Log {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(text)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(()) // the library asks for it after each event
    }
}

impl Log {
    fn keep(&self) -> io::Result<()> {
        self.0.lock().unwrap().flush()
    }
}

fn transport(folder: &str, side: &str) -> Result<(Arc<TransportConfig>, Log)> {
    let file = fs::File::create(format!("{folder}/{side}.sqlog"))?;
    let log = Log(Arc::new(Mutex::new(BufWriter::with_capacity(
        1 << 16,
        file,
    ))));
    let mut qlog = quinn::QlogConfig::default();
    qlog.writer(Box::new(log.clone())).title(Some(side.into()));
    let mut transport = TransportConfig::default();
    transport.qlog_stream(qlog.into_stream());
    Ok((Arc::new(transport), log))
}

async fn answer(incoming: Incoming) -> Result<()> {
    let connection = incoming.await?;
    let (mut send, mut receive) = connection.accept_bi().await?;
    let size: usize = std::str::from_utf8(&receive.read_to_end(64).await?)?.parse()?;
    send.write_all(&vec![0; size]).await?;
    send.finish()?;
    connection.closed().await;
    Ok(())
}

async fn serve(address: &str, folder: &str) -> Result<()> {
    let made = rcgen::generate_simple_self_signed(["server".to_string()])?;
    fs::write(format!("{folder}/certificate.pem"), made.cert.pem())?;
    let key = PrivatePkcs8KeyDer::from(made.signing_key.serialize_der());
    let mut config = ServerConfig::with_single_cert(vec![made.cert.der().clone()], key.into())?;
    let (transport, log) = transport(folder, "server")?;
    config.transport_config(transport);
    let endpoint = Endpoint::server(config, address.parse()?)?;
    while let Some(incoming) = endpoint.accept().await {
        if let Err(error) = answer(incoming).await {
            eprintln!("{error}");
        }
        log.keep()?;
    }
    Ok(())
}

async fn get(address: &str, size: &str, certificate: &str, folder: &str) -> Result<()> {
    let peer: SocketAddr = address
        .to_socket_addrs()?
        .next()
        .ok_or("expected HOST:PORT")?;
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_file(certificate)?)?;
    let mut config = ClientConfig::with_root_certificates(Arc::new(roots))?;
    let (transport, log) = transport(folder, "client")?;
    config.transport_config(transport);
    let endpoint = Endpoint::client("0.0.0.0:0".parse()?)?;
    let name = address.split(':').next().unwrap_or_default();
    let began = Instant::now();
    let connection = endpoint.connect_with(config, peer, name)?.await?;
    let (mut send, mut receive) = connection.open_bi().await?;
    send.write_all(size.as_bytes()).await?;
    send.finish()?;
    let mut count = 0;
    while let Some(chunk) = receive.read_chunk(usize::MAX, true).await? {
        count += chunk.bytes.len();
    }
    let took = began.elapsed().as_secs_f64();
    connection.close(0u32.into(), b"done");
    endpoint.wait_idle().await;
    log.keep()?;
    let mbit = count as f64 * 8e-6 / took;
    println!("{{\"bytes\": {count}, \"seconds\": {took:.6}, \"mbit\": {mbit:.6}}}");
    if count.to_string() != size {
        return Err(format!("expected {size} bytes, got {count}").into());
    }
    Ok(())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let words: Vec<String> = env::args().skip(1).collect();
    match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["serve", address, folder] => serve(address, folder).await,
        ["get", address, size, certificate, folder] => {
            get(address, size, certificate, folder).await
        }
        _ => Err("expected serve ADDRESS FOLDER, or get ADDRESS BYTES CERTIFICATE FOLDER".into()),
    }
}
