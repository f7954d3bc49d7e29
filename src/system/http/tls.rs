//! Trusted certificates: those in `SSL_CERT_FILE` if it is set, as in other programs, or else Mozilla's.

use std::path::Path;

use ureq::tls::{Certificate, PemItem, RootCerts, TlsConfig, parse_pem};

use crate::error::{Error, Result};

/// The configuration from the environment.
///
/// # Errors
/// If the file cannot be read or contains no certificate.
pub(super) fn from_env() -> Result<TlsConfig> {
    let file = std::env::var_os("SSL_CERT_FILE").filter(|file| !file.is_empty());
    let Some(file) = file else {
        return Ok(TlsConfig::default());
    };
    let roots = certificates(Path::new(&file))?;
    Ok(TlsConfig::builder()
        .root_certs(RootCerts::new_with_certs(&roots))
        .build())
}

fn certificates(file: &Path) -> Result<Vec<Certificate<'static>>> {
    let place = |error: Error| error.at("the variable `SSL_CERT_FILE`");
    let content = std::fs::read(file).map_err(|error| place(Error::io("read", file, &error)))?;
    let certificate = |item| match item {
        Ok(PemItem::Certificate(certificate)) => Some(certificate),
        _ => None,
    };
    let found: Vec<_> = parse_pem(&content).filter_map(certificate).collect();
    if found.is_empty() {
        let message = format!("`{}` holds no certificate", file.display());
        return Err(place(
            Error::usage(message).hint("it has to be in PEM form"),
        ));
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_without_certificates_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("roots.pem");
        assert_eq!(certificates(&file).unwrap_err().exit(), crate::Exit::Usage);
        std::fs::write(
            &file,
            "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
        )
        .unwrap();
        assert_eq!(certificates(&file).unwrap().len(), 1);
        std::fs::write(&file, "no").unwrap();
        let error = certificates(&file).unwrap_err();
        assert!(
            error.message().ends_with("roots.pem` holds no certificate"),
            "{error}"
        );
    }
}
